#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace {
namespace {

TEST(Printable, text_of_any_language_stays) {
  for (const char* text : {"", "conv1/weights:0", "Überlänge", "層", "\U0001F600", "a\\b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, what_moves_cursors_or_ends_lines_is_written_out) {
  EXPECT_EQ(printable("a\033]0;title\007b\nc\177"), "a\\x1b]0;title\\x07b\\x0ac\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");
  EXPECT_EQ(printable("a\u2028b"), "a\\xe2\\x80\\xa8b");
}

TEST(Printable, what_turns_the_direction_of_writing_is_written_out) {
  EXPECT_EQ(printable("\u202etxt"), "\\xe2\\x80\\xaetxt");
  EXPECT_EQ(printable("\u2066txt\u2069"), "\\xe2\\x81\\xa6txt\\xe2\\x81\\xa9");
}

TEST(Printable, bytes_that_are_not_utf8_are_written_out) {
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");
  EXPECT_EQ(printable("\xe5\xb1"), "\\xe5\\xb1");          // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");          // longer than need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
}

TEST(Printable, errors_are) {
  EXPECT_STREQ(InputError("a\n", "\u202e").what(), "a\\x0a: \\xe2\\x80\\xae");
  EXPECT_STREQ(EngineError("\033[31m").what(), "\\x1b[31m");
}

}  // namespace
}  // namespace millrace
