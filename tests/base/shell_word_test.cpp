#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

TEST(ShellWord, is_quoted_if_need_be) {
  EXPECT_EQ(shell_word("a/b-1.onnx"), "a/b-1.onnx");
  EXPECT_EQ(shell_word("-o"), "./-o");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("層's"), "'層'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, is_printable_and_the_same_for_the_shell) {
  EXPECT_EQ(shell_word("a\033[31m"), "$'a\\x1b[31m'");
  EXPECT_EQ(shell_word("\u202ea\\b'c"), "$'\\xe2\\x80\\xaea\\\\b\\'c'");
  EXPECT_EQ(shell_word("\xff"), "$'\\xff'");
}

}  // namespace
}  // namespace millrace
