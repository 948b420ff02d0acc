#include "application/codecs/live_time.h"

#include <gtest/gtest.h>

namespace millrace::application {
namespace {

using namespace std::chrono_literals;

LiveTime::Moment at(Time time) { return LiveTime::Moment(std::chrono::hours(1) + time); }

TEST(LiveTime, a_frame_lags_by_how_much_longer_it_took_than_the_quickest) {
  LiveTime time;
  EXPECT_EQ(time.lag_of(at(2s), 100s), 0s);
  EXPECT_EQ(time.lag_of(at(2s), 101s), 0s);  // the first had waited for a second
  EXPECT_NEAR(seconds(time.lag_of(at(4s), 102s)), 1, 0.001);
  EXPECT_NEAR(seconds(time.lag_of(at(40s), 107s)), 32, 0.01);
}

TEST(LiveTime, a_clock_that_is_a_little_slow_makes_no_lag) {
  LiveTime time;
  Time most{};
  for (int second = 0; second < 100'000; ++second)
    most = std::max(most, time.lag_of(at(Time(1s) * second), Time(999'900us) * second));
  EXPECT_LT(most, 1ms);
}

TEST(LiveTime, stamps_that_begin_again_make_no_lag) {
  LiveTime time;
  time.lag_of(at(0s), 5000s);
  EXPECT_EQ(time.lag_of(at(1s), 0s), 0s);
  EXPECT_NEAR(seconds(time.lag_of(at(3s), 1s)), 1, 0.001);
  EXPECT_EQ(time.lag_of(at(4s), 90'000s), 0s);
}

TEST(LiveTime, without_stamps_knows_of_no_lag) {
  LiveTime time;
  EXPECT_EQ(time.lag_of(at(0s), std::nullopt), 0s);
  EXPECT_EQ(time.lag_of(at(9s), std::nullopt), 0s);
}

}  // namespace
}  // namespace millrace::application
