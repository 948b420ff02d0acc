// What the command prints of programs of tiles, whose names anyone may have chosen.
#include "present/results/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::product {
namespace {

TEST(TilesText, has_a_line_for_each_finding_whatever_it_quotes) {
  const std::string text =
      present::findings_text({"workload 'a\nall is well': it reads too much", "b"}, "c\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find("\nall is well"), std::string::npos);
  EXPECT_EQ(present::findings_text({}, "c\n"), "c\n");
}

}  // namespace
}  // namespace millrace::product
