#include "runtime/controller/response_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "runtime/load.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

TEST(ResponseTimes, without_times_all_is_zero) {
  const ResponseTimes none;
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.mean(), Time{});
  EXPECT_EQ(none.percentile(0.5), Time{});
}

TEST(ResponseTimes, percentiles_are_those_of_the_sorted_times_within_a_bin) {
  Random random(3);
  ResponseTimes times;
  std::vector<Time> all;
  for (int i = 0; i < 20'000; ++i) {
    const int octave = static_cast<int>(random.below(36));
    all.emplace_back(static_cast<std::int64_t>(random.below(std::uint64_t{2} << octave)));
    times.add(all.back());
  }
  std::ranges::sort(all);
  EXPECT_EQ(times.largest(), all.back());
  EXPECT_EQ(times.count(), 20'000);
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const Time exact = percentile(all, share), found = times.percentile(share);
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(static_cast<double>(found.count()), static_cast<double>(exact.count()) * 1.04)
        << share;
  }
}

TEST(ResponseTimes, times_of_any_length_are_counted) {
  ResponseTimes times;
  times.add(-5ns);
  times.add(100h);
  EXPECT_EQ(times.largest(), 100h);
  EXPECT_EQ(times.percentile(0.5), Time{});
  EXPECT_EQ(times.percentile(1), 100h);
}

}  // namespace
}  // namespace millrace::runtime
