#include "explore/configuration/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::explore {
namespace {

/// A pipeline whose parts serve so many frames per second for each unit they have.
Rate slowest_of(std::vector<double> each) {
  return [each](const Parameters& parameters) -> std::optional<double> {
    double slowest = 1e9;
    for (std::size_t p = 0; p < each.size(); ++p)
      slowest = std::min(slowest, each[p] * static_cast<double>(parameters[p].value));
    return std::min(slowest, 100.0);
  };
}

TEST(Maximise, stops_where_more_does_not_help) {
  const auto rate = [](const Parameters& p) -> std::optional<double> {
    return static_cast<double>(std::min<std::int64_t>(p[0].value, 5) +
                               std::min<std::int64_t>(p[1].value, 3));
  };
  const Parameters result = maximise({{"threads", 1}, {"slots", 1}}, rate);
  EXPECT_EQ(result[0].value, 5);
  EXPECT_EQ(result[1].value, 3);
}

TEST(Maximise, keeps_to_the_limits) {
  const auto rate = [](const Parameters& p) -> std::optional<double> {
    return static_cast<double>(p[0].value);
  };
  EXPECT_EQ(maximise({{"streams", 2, 1, 8}}, rate)[0].value, 8);
}

TEST(Maximise, ends_where_nothing_more_is_measured) {
  int asked = 0;
  const auto rate = [&](const Parameters& p) -> std::optional<double> {
    if (++asked > 3) return std::nullopt;
    return static_cast<double>(p[0].value);
  };
  EXPECT_EQ(maximise({{"streams", 1, 1, 100}}, rate)[0].value, 3);
}

TEST(FineTune, gives_back_what_is_not_needed) {
  FineTuning options;
  const Parameters result =
      fine_tune({{"a", 9}, {"b", 9}, {"c", 9}}, slowest_of({50, 25, 100}), options);
  EXPECT_EQ(result[0].value, 2);
  EXPECT_EQ(result[1].value, 4);
  EXPECT_EQ(result[2].value, 1);
}

TEST(FineTune, loses_no_more_than_is_allowed_of_the_best_seen) {
  const auto rate = [](const Parameters& p) -> std::optional<double> {
    return 100.0 - static_cast<double>(10 - p[0].value);
  };
  FineTuning options;
  options.allowed_loss = 0.03;
  EXPECT_EQ(fine_tune({{"slots", 6, 1, 10}}, rate, options)[0].value, 7);
}

TEST(FineTune, raises_first_what_another_option_needs) {
  FineTuning options;
  const Parameters result = fine_tune({{"a", 1}, {"b", 2}}, slowest_of({25, 50}), options);
  EXPECT_EQ(result[0].value, 4);
  EXPECT_EQ(result[1].value, 2);
}

TEST(FineTune, shares_streams_of_one_processor_otherwise) {
  // More streams help the last stage, each stream beyond 6 of both together hurts.
  const auto rate = [](const Parameters& p) -> std::optional<double> {
    const std::int64_t sum = p[0].value + p[1].value;
    return 100.0 + static_cast<double>(p[1].value) * 5 -
           20.0 * static_cast<double>(std::max<std::int64_t>(0, sum - 6)) -
           20.0 * static_cast<double>(std::max<std::int64_t>(0, 6 - sum));
  };
  FineTuning options;
  options.shared = {{0, 1}};
  const Parameters result = fine_tune({{"first", 3}, {"last", 3}}, rate, options);
  EXPECT_EQ(result[0].value, 1);
  EXPECT_EQ(result[1].value, 5);
}

TEST(FineTune, keeps_the_slots_the_largest) {
  FineTuning options;
  options.largest = 1;
  const Parameters result =
      fine_tune({{"threads", 2}, {"slots", 2}}, slowest_of({10, 1000}), options);
  EXPECT_EQ(result[0].value, 10);
  EXPECT_EQ(result[1].value, 10);
}

TEST(Maximise, raises_both_of_a_pair_that_hold_up_the_frames_alike) {
  const Rate rate = slowest_of({10, 10});
  EXPECT_EQ(maximise({{"pre", 1}, {"post", 1}}, rate)[0].value, 1);
  const Parameters result = maximise({{"pre", 1}, {"post", 1}}, rate, {{0, 1}});
  EXPECT_EQ(result[0].value, 10);
  EXPECT_EQ(result[1].value, 10);
}

TEST(FineTune, lowers_the_slots_with_what_they_had_to_be_as_large_as) {
  FineTuning options;
  options.largest = 0;
  options.allowed_loss = 0.5;
  const Parameters result =
      fine_tune({{"slots", 8}, {"threads", 8}}, slowest_of({1000, 10}), options);
  EXPECT_LT(result[1].value, 8);
  EXPECT_EQ(result[0].value, result[1].value);
}

}  // namespace
}  // namespace millrace::explore
