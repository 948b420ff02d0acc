#include <gtest/gtest.h>

#include "base/error.h"
#include "profile/profile.h"

namespace millrace::profile {
namespace {

std::vector<Time> times(std::initializer_list<int> values) {
  std::vector<Time> result;
  for (const int value : values) result.emplace_back(value);
  return result;
}

TEST(Statistics, worst_case_is_the_largest_seen_or_six_deviations_above_the_mean) {
  const Statistics even = statistics_of(times({1000, 1000, 1000, 1000}));
  EXPECT_EQ(even.worst_case, Time(1000));
  EXPECT_EQ(even.deviation, Time(0));
  const Statistics spread = statistics_of(times({900, 1100}));
  EXPECT_EQ(spread.mean, Time(1000));
  EXPECT_EQ(spread.deviation, Time(141));
  EXPECT_EQ(spread.worst_case, Time(1849));  // 1000 + 6 * 141.42
  EXPECT_EQ(spread.maximum, Time(1100));
}

TEST(Statistics, one_outlier_moves_the_maximum_and_not_the_median) {
  const Statistics s = statistics_of(times({10, 11, 10, 10, 9'000'000, 10, 11}));
  EXPECT_EQ(s.median, Time(10));
  EXPECT_EQ(s.maximum, Time(9'000'000));
  EXPECT_EQ(s.count, 7);
}

TEST(Statistics, a_drift_between_the_halves_is_called_unstable) {
  EXPECT_TRUE(statistics_of(times({100'000, 101'000, 100'000, 102'000})).stable);
  EXPECT_FALSE(statistics_of(times({100'000, 101'000, 150'000, 152'000})).stable);
}

TEST(Statistics, nothing_measured_is_all_zero) { EXPECT_EQ(statistics_of({}), Statistics{}); }

TEST(Profile, asking_for_an_unknown_processor_names_the_known_ones) {
  Profile profile;
  profile.processors.resize(1);
  profile.processors[0].processor = {"core0", board::ProcessorKind::cpu, {0}};
  EXPECT_EQ(&of(profile, profile.processors[0].processor), &profile.processors[0]);
  try {
    of(profile, {"gpu", board::ProcessorKind::cpu, {7}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("core0"), std::string::npos);
  }
}

}  // namespace
}  // namespace millrace::profile
