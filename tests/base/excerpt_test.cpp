#include "base/excerpt.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/utf8.h"

namespace millrace {
namespace {

TEST(Excerpt, has_the_begin_and_the_end_of_a_long_text) {
  EXPECT_EQ(excerpt("short", 5), "short");
  const std::string text = "begin" + std::string(1000, 'x') + "end";
  EXPECT_EQ(excerpt(text, 12), "beginxxxx... (996 more characters) ...end");
}

TEST(Excerpt, is_never_longer_than_the_text) {
  const std::string text(60, 'x');
  EXPECT_EQ(excerpt(text, 40), text);
}

TEST(Excerpt, cuts_no_character) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "層";
  for (std::size_t most = 4; most < 40; ++most) {
    EXPECT_TRUE(is_utf8(excerpt(text, most))) << most;
    EXPECT_LE(excerpt(text, most).size(), most + 40);
  }
  EXPECT_EQ(excerpt(text, 12), "層層層... (496 more characters) ...層");
}

TEST(Excerpt, of_a_sentence_is_of_each_quote) {
  const std::string text(10'000, 'x');
  const std::string cut = excerpt(text, longest_quote);
  EXPECT_EQ(with_short_quotes("the user's line has '" + text + "', it isn't '" + text + "'; end"),
            "the user's line has '" + cut + "', it isn't '" + cut + "'; end");
  EXPECT_EQ(with_short_quotes("no quote's end '" + text), "no quote's end '" + text);
}

TEST(Excerpt, of_an_error_keeps_its_place_and_what_to_do) {
  const std::string text(1'000'000, 'x');
  const std::string quoted = InputError("a.txt: line 1", "found '" + text + "', expected 0").what();
  EXPECT_TRUE(quoted.starts_with("a.txt: line 1: found 'xxx")) << quoted;
  EXPECT_TRUE(quoted.ends_with("xxx', expected 0")) << quoted;
  EXPECT_LE(quoted.size(), 400u);
  const std::string placed = InputError(text, "is no file").what();
  EXPECT_TRUE(placed.ends_with("xxx: is no file")) << placed;
  EXPECT_LE(placed.size(), longest_place + 100);
  EXPECT_LE(std::string(EngineError(text).what()).size(), longest_message + 40);
}

}  // namespace
}  // namespace millrace
