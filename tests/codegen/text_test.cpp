#include "codegen/text.h"

#include <gtest/gtest.h>

namespace millrace::codegen {
namespace {

TEST(CodegenText, places_become_what_stands_for_them) {
  EXPECT_EQ(with("@A@ and @B@ and @A@", {{"A", "x"}, {"B", "y"}}), "x and y and x");
}

TEST(CodegenText, what_stands_for_a_place_has_no_places) {
  EXPECT_EQ(with("@A@ @B@", {{"A", "@B@"}, {"B", "@A@@"}}), "@B@ @A@@");
}

TEST(CodegenText, long_comments_are_broken_at_blanks) {
  const std::string word(60, 'w');
  EXPECT_EQ(comment(word + " " + word), "//   " + word + "\n//       " + word + "\n");
}

}  // namespace
}  // namespace millrace::codegen
