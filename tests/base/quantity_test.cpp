#include "base/quantity.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace {
namespace {

TEST(Quantity, durations_have_a_unit_and_are_above_0) {
  EXPECT_EQ(read_duration("100ms", "p"), std::chrono::milliseconds(100));
  EXPECT_EQ(read_duration("0.5s", "p"), std::chrono::milliseconds(500));
  EXPECT_EQ(read_duration("250us", "p"), std::chrono::microseconds(250));
  for (const char* wrong : {"", "5", "0ms", "-1s", "1h", "1 s", "2e6s"})
    EXPECT_THROW(read_duration(wrong, "p"), InputError) << wrong;
}

TEST(Quantity, durations_survive_the_way_to_text_and_back) {
  for (const char* text : {"1s", "100ms", "250us", "0.5us", "1500ms"})
    EXPECT_EQ(duration_text(read_duration(text, "p")), text);
  EXPECT_EQ(duration_text(std::chrono::milliseconds(500)), "500ms");
}

TEST(Quantity, memory_has_a_unit_and_survives_the_way_to_text_and_back) {
  EXPECT_EQ(read_bytes("1.5KiB", "p"), Bytes{1536});
  EXPECT_EQ(read_bytes("2GiB", "p"), Bytes{std::int64_t{2} << 30});
  for (const char* text : {"1B", "1536B", "3KiB", "512MiB", "7GiB"})
    EXPECT_EQ(bytes_text(read_bytes(text, "p")), text);
  for (const char* wrong : {"", "5", "0MiB", "-1GiB", "1GB", "1 GiB", "2e12GiB", "nanMiB"})
    EXPECT_THROW(read_bytes(wrong, "p"), InputError) << wrong;
}

TEST(Quantity, shares_are_numbers_below_1_or_percents) {
  EXPECT_DOUBLE_EQ(read_share("1%", "p"), 0.01);
  EXPECT_DOUBLE_EQ(read_share("0.01", "p"), 0.01);
  EXPECT_DOUBLE_EQ(read_share("100%", "p"), 1);
  for (const char* wrong : {"", "1", "101%", "-1%", "much", "1%%"})
    EXPECT_THROW(read_share(wrong, "p"), InputError) << wrong;
}

TEST(Quantity, numbers_are_all_of_the_text) {
  EXPECT_EQ(read_number<std::int64_t>("-3", "p"), -3);
  EXPECT_EQ(read_number<std::uint64_t>("18446744073709551615", "p"), ~std::uint64_t{0});
  EXPECT_EQ(read_number<double>("0.25", "p"), 0.25);
  EXPECT_THROW(read_number<std::int64_t>("3 ", "p"), InputError);
  EXPECT_THROW(read_number<std::uint64_t>("-3", "p"), InputError);
}

}  // namespace
}  // namespace millrace
