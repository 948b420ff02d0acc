#include "base/units.h"

#include <gtest/gtest.h>

namespace millrace {
namespace {

using namespace std::chrono_literals;

TEST(Units, times_are_written_with_three_digits_and_the_fitting_unit) {
  EXPECT_EQ(to_text(Time(999)), "999 ns");
  EXPECT_EQ(to_text(Time(1'234)), "1.23 us");
  EXPECT_EQ(to_text(Time(17'340'000)), "17.3 ms");
  EXPECT_EQ(to_text(Time(2s)), "2.00 s");
  EXPECT_EQ(to_text(Time(0)), "0 ns");
}

TEST(Units, rates_are_written_with_four_digits) {
  EXPECT_EQ(four_digits(104307.9), "104300");
  EXPECT_EQ(four_digits(9999.6), "10000");
  EXPECT_EQ(four_digits(435.27), "435.3");
  EXPECT_EQ(four_digits(0.744), "0.7440");
  EXPECT_EQ(four_digits(-1), "-1.000");
  EXPECT_EQ(four_digits(0), "0");
}

TEST(Units, bytes_are_written_in_powers_of_1024) {
  EXPECT_EQ(to_text(Bytes{312}), "312 B");
  EXPECT_EQ(to_text(Bytes{1024 * 1024 * 3 / 2}), "1.50 MiB");
}

TEST(Units, seconds_become_the_nearest_nanosecond) {
  EXPECT_EQ(time_from_seconds(1.5e-9), Time(2));
  EXPECT_EQ(time_from_seconds(-1.6e-9), Time(-2));
}

}  // namespace
}  // namespace millrace
