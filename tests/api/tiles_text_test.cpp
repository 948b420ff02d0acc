// What the command prints of programs of tiles, whose names anyone may have chosen.
#include "api/text/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::api {
namespace {

TEST(TilesText, has_a_line_for_each_finding_whatever_it_quotes) {
  const std::string text =
      findings_text({"workload 'a\nall is well': it reads too much", "b"}, "c\n");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_EQ(text.find("\nall is well"), std::string::npos);
  EXPECT_EQ(findings_text({}, "c\n"), "c\n");
}

}  // namespace
}  // namespace millrace::api
