// Generators of task sets against what geometry says of their distributions.
#include "generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/json.h"
#include "support/shared.h"

namespace millrace::realtime {
namespace {

constexpr std::size_t draws = 40'000;

using Sets = std::vector<std::vector<double>>;

Sets drawn(const std::function<std::vector<double>(Random&)>& draw) {
  Random random(2010);
  Sets sets;
  for (std::size_t i = 0; i < draws; ++i) sets.push_back(draw(random));
  return sets;
}

std::vector<double> values_at(const Sets& sets, std::size_t index) {
  std::vector<double> values;
  for (const auto& set : sets) values.push_back(set[index]);
  std::ranges::sort(values);
  return values;
}

double share_up_to(const std::vector<double>& sorted, double limit) {
  return static_cast<double>(std::ranges::upper_bound(sorted, limit) - sorted.begin()) /
         static_cast<double>(sorted.size());
}

/// The largest distance to a distribution function (Kolmogorov and Smirnov).
double distance(const std::vector<double>& sorted, const std::function<double(double)>& cdf) {
  double largest = 0;
  const auto count = static_cast<double>(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double at = cdf(sorted[i]);
    largest = std::max({largest, std::abs(at - static_cast<double>(i) / count),
                        std::abs(at - static_cast<double>(i + 1) / count)});
  }
  return largest;
}

/// The distance that 1 in a thousand true samples exceeds.
const double largest_distance = 1.95 / std::sqrt(static_cast<double>(draws));

void expect_sums(const Sets& sets, double sum, double most) {
  for (const auto& set : sets) {
    ASSERT_NEAR(std::accumulate(set.begin(), set.end(), 0.0), sum, 1e-9 * std::max(1.0, sum));
    for (double share : set) {
      ASSERT_GE(share, 0);
      ASSERT_LE(share, most);
    }
  }
}

TEST(Generate, uunifast_is_uniform_on_the_simplex) {
  for (std::size_t count : {2u, 3u, 5u, 10u}) {
    const double sum = 1.5;
    const Sets sets = drawn([&](Random& random) { return uunifast(count, sum, random); });
    expect_sums(sets, sum, sum);
    for (std::size_t i = 0; i < count; ++i)  // Beta(1, count - 1), whichever task it is
      EXPECT_LT(distance(values_at(sets, i),
                         [&](double share) {
                           return 1 - std::pow(1 - std::min(1.0, share / sum),
                                               static_cast<double>(count - 1));
                         }),
                largest_distance)
          << count << " tasks, task " << i;
  }
}

/// What the file says of sets of `count` that add up to a sum.
struct Facts {
  std::size_t count = 0;
  double sum = 0, variance = 0;
  std::vector<std::pair<double, double>> cdf;
};

double number(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::stod(text);
  return std::stod(text.substr(0, slash)) / std::stod(text.substr(slash + 1));
}

std::vector<Facts> facts_of(const nlohmann::json& rows, const char* sum) {
  std::vector<Facts> result;
  for (const auto& row : rows) {
    Facts facts{row["n"].get<std::size_t>(),
                number(row[sum].get<std::string>()),
                row["var_each"].get<double>(),
                {}};
    for (const auto& [at, share] : row["cdf_each_at"].items())
      facts.cdf.emplace_back(number(at), share.get<double>());
    result.push_back(std::move(facts));
  }
  return result;
}

void expect_facts(const Sets& sets, const Facts& facts) {
  for (std::size_t i = 0; i < facts.count; ++i) {
    const std::vector<double> values = values_at(sets, i);
    const double mean = facts.sum / static_cast<double>(facts.count);
    double variance = 0;
    for (double value : values) variance += (value - mean) * (value - mean);
    variance /= static_cast<double>(values.size());
    EXPECT_NEAR(variance / facts.variance, 1, 0.06) << facts.count;
    for (const auto& [at, share] : facts.cdf)
      EXPECT_NEAR(share_up_to(values, at), share, largest_distance)
          << facts.count << " tasks, sum " << facts.sum << ", at " << at;
  }
}

class GenerateFacts : public testing::Test {
 protected:
  void SetUp() override {
    MILLRACE_NEEDS_SHARED("oracles/task_set_generators.json");
    facts_ = read_json(millrace::test::shared_folder() / "oracles/task_set_generators.json");
  }
  nlohmann::json facts_;
};

TEST_F(GenerateFacts, randfixedsum_is_uniform_on_its_slice) {
  for (const Facts& facts : facts_of(facts_["randfixedsum_exact"], "sum")) {
    const Sets sets =
        drawn([&](Random& random) { return rand_fixed_sum(facts.count, facts.sum, random); });
    expect_sums(sets, facts.sum, 1);
    expect_facts(sets, facts);
  }
}

TEST_F(GenerateFacts, discard_is_the_same_as_randfixedsum) {
  for (const Facts& facts : facts_of(facts_["randfixedsum_exact"], "sum")) {
    if (facts.count > 4) continue;  // where one in some tries is accepted
    const Sets sets =
        drawn([&](Random& random) { return uunifast_discard(facts.count, facts.sum, random); });
    expect_sums(sets, facts.sum, 1);
    expect_facts(sets, facts);
  }
}

TEST_F(GenerateFacts, uunifast_has_the_moments_of_the_simplex) {
  for (const Facts& facts : facts_of(facts_["uunifast_exact"], "U")) {
    if (facts.sum > 1) continue;
    const Sets sets =
        drawn([&](Random& random) { return uunifast(facts.count, facts.sum, random); });
    expect_facts(sets, facts);
  }
}

TEST_F(GenerateFacts, periods_are_log_uniform) {
  for (const auto& row : facts_["log_uniform_period_exact"]) {
    const Time shortest(row["Tmin"].get<std::int64_t>() * 1'000'000);
    const Time longest(row["Tmax"].get<std::int64_t>() * 1'000'000);
    Random random(3);
    std::vector<double> periods;
    for (std::size_t i = 0; i < draws; ++i)
      periods.push_back(milliseconds(log_uniform_period(shortest, longest, Time(1), random)));
    std::ranges::sort(periods);
    EXPECT_NEAR(
        std::accumulate(periods.begin(), periods.end(), 0.0) / draws / row["mean"].get<double>(), 1,
        0.03);
    for (const auto& [at, share] : row["P(T<=x)"].items())
      EXPECT_NEAR(share_up_to(periods, std::stod(at)), share.get<double>(), largest_distance);
  }
}

TEST(Generate, randfixedsum_at_the_edges) {
  Random random(1);
  EXPECT_EQ(rand_fixed_sum(1, 0.3, random), std::vector<double>{0.3});
  for (const double sum : {0.0, 1.0, 39.99, 40.0}) {
    const std::vector<double> set = rand_fixed_sum(40, sum, random);
    EXPECT_NEAR(std::accumulate(set.begin(), set.end(), 0.0), sum, 1e-6);
  }
  const std::vector<double> large = rand_fixed_sum(500, 250, random);
  EXPECT_NEAR(std::accumulate(large.begin(), large.end(), 0.0), 250, 1e-6);
}

}  // namespace
}  // namespace millrace::realtime
