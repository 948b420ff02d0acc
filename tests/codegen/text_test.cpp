#include "codegen/text.h"

#include <gtest/gtest.h>

namespace millrace::codegen {
namespace {

TEST(CodegenText, places_become_what_stands_for_them) {
  EXPECT_EQ(with("@A@ and @B@ and @A@", {{"A", "x"}, {"B", "y"}}), "x and y and x");
}

/// A line that ends in a backslash would take the next one, which is code, into the comment.
TEST(CodegenText, names_neither_end_a_comment_nor_join_lines_to_it) {
  EXPECT_EQ(plain("net\nint hidden = 1;"), "net/x0aint hidden = 1;");
  EXPECT_EQ(comment("conv\\"), "//   conv/\n");
  EXPECT_EQ(comment("one\ntwo"), "//   one two\n");
}

TEST(CodegenText, long_comments_are_broken_at_blanks) {
  const std::string word(60, 'w');
  EXPECT_EQ(comment(word + " " + word), "//   " + word + "\n//       " + word + "\n");
}

TEST(CodegenText, texts_are_one_literal) {
  EXPECT_EQ(quoted("say \"hi\" \\"), "\"say \\\"hi\\\" \\\\\"");
  EXPECT_EQ(quoted(std::string("a\n1\0", 4)), "\"a\\0121\\000\"");
  EXPECT_EQ(quoted("what" + std::string(2, '?')), "\"what\\?\\?\"");
}

TEST(CodegenText, arguments_are_one_and_name_no_variable) {
  EXPECT_EQ(argument("/my files/$ENV{HOME}"), "\"/my files/\\$ENV{HOME}\"");
}

}  // namespace
}  // namespace millrace::codegen
