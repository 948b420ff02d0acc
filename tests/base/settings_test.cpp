#include "base/text/settings.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace {
namespace {

std::string as_options(std::string_view text) {
  return with_settings(text, [](std::string_view name) { return "--" + std::string(name); });
}

TEST(Settings, are_said_in_the_words_of_the_user) {
  EXPECT_EQ(as_options("⟨search⟩ auto does not use it; leave out ⟨jobs⟩"),
            "--search auto does not use it; leave out --jobs");
  EXPECT_EQ(as_options("⟨max_latency⟩⟨jobs⟩"), "--max_latency--jobs");
  EXPECT_EQ(as_options("no setting"), "no setting");
  EXPECT_EQ(as_options(""), "");
}

TEST(Settings, are_names_and_nothing_else) {
  for (const char* text : {"⟨a b⟩", "⟨⟩", "⟨a", "a⟩", "⟨A⟩", "⟨"})
    EXPECT_EQ(as_options(text), text);
  EXPECT_EQ(as_options("⟨⟨jobs⟩⟩"), "⟨--jobs⟩");
}

TEST(Settings, stay_in_the_messages_of_errors) {
  const InputError error("⟨max_loss⟩ 1%", "is too small; leave out ⟨precision⟩");
  EXPECT_EQ(as_options(error.what()), "--max_loss 1%: is too small; leave out --precision");
}

}  // namespace
}  // namespace millrace
