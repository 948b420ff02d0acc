#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace millrace {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) lines.emplace_back(take_line(text));
  return lines;
}

TEST(Lines, end_as_those_of_any_system) {
  const std::vector<std::string> expected{"one", "", "two"};
  for (const char* text : {"one\n\ntwo\n", "one\r\n\r\ntwo", "one\r\rtwo\r", "one\r\n\ntwo\n"})
    EXPECT_EQ(lines_of(text), expected) << text;
  EXPECT_EQ(lines_of("\r\n"), std::vector<std::string>{""});
  EXPECT_TRUE(lines_of("").empty());
}

TEST(ByteOrderMark, is_no_part_of_the_text) {
  EXPECT_EQ(without_byte_order_mark("\xEF\xBB\xBFtext"), "text");
  EXPECT_EQ(without_byte_order_mark("text"), "text");
}

}  // namespace
}  // namespace millrace
