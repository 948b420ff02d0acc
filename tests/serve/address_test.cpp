#include "serve/address.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::serve {
namespace {

TEST(Address, is_on_the_loopback_unless_it_says_more) {
  EXPECT_EQ(to_text(read_address(":9100", "metrics")), "127.0.0.1:9100");
  EXPECT_EQ(to_text(read_address("9100", "metrics")), "127.0.0.1:9100");
  EXPECT_EQ(to_text(read_address("0.0.0.0:80", "metrics")), "0.0.0.0:80");
  EXPECT_EQ(to_text(read_address("[::1]:9100", "metrics")), "[::1]:9100");
  EXPECT_EQ(to_text(read_address("board.local:0", "metrics")), "board.local:0");
}

TEST(Address, has_a_port) {
  for (const char* text : {"", ":", "localhost", ":70000", ":-1", ":80x", "80 ", "[::1]"})
    EXPECT_THROW(read_address(text, "metrics"), InputError) << text;
}

}  // namespace
}  // namespace millrace::serve
