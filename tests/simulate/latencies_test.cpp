#include "simulate/latencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace millrace::simulate {
namespace {

TEST(Latencies, short_times_have_exact_percentiles) {
  Latencies latencies;
  for (int i = 100; i >= 1; --i) latencies.add(Time(i));
  EXPECT_EQ(latencies.percentile(0.5), Time(50));
  EXPECT_EQ(latencies.percentile(0.99), Time(99));
  EXPECT_EQ(latencies.percentile(1), Time(100));
  EXPECT_EQ(latencies.percentile(0), Time(1));
  EXPECT_EQ(latencies.mean(), Time(51));  // 50.5
  EXPECT_EQ(latencies.minimum(), Time(1));
  EXPECT_EQ(latencies.maximum(), Time(100));
}

TEST(Latencies, equal_times_are_exact_however_long) {
  Latencies latencies;
  for (int i = 0; i < 1000; ++i) latencies.add(Time(123'456'789'012));
  EXPECT_EQ(latencies.percentile(0.5), Time(123'456'789'012));
}

TEST(Latencies, percentiles_are_at_most_a_thousandth_too_large_and_never_too_small) {
  Random random(3);
  Latencies latencies;
  std::vector<Time> all;
  for (int i = 0; i < 20'000; ++i) {
    all.emplace_back(static_cast<std::int64_t>(std::exp(40 * random.unit())));
    latencies.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000)) - 1;
    const Time found = latencies.percentile(share);
    EXPECT_GE(found, all[rank]) << share;
    EXPECT_LE(found.count(), all[rank].count() + all[rank].count() / 1000) << share;
  }
}

TEST(Latencies, takes_the_longest_time_that_there_is) {
  Latencies latencies;
  latencies.add(Time{});
  latencies.add(Time::max());
  EXPECT_EQ(latencies.percentile(0.5), Time{});
  EXPECT_EQ(latencies.percentile(1), Time::max());
}

}  // namespace
}  // namespace millrace::simulate
