#include "explore/mapping/chain.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "base/json.h"
#include "support/shared.h"

namespace millrace::explore {
namespace {

/// Weights over speeds, with all times multiplied by `unit` so that they are whole numbers.
PartCosts costs_of(const std::vector<double>& weights, const std::vector<std::int64_t>& speeds,
                   std::int64_t unit) {
  return {weights.size(), speeds.size(), [&, unit](std::size_t kind, std::size_t begin) {
            std::vector<double> row;
            double sum = 0;
            for (std::size_t i = begin; i < weights.size(); ++i) {
              sum += weights[i] * static_cast<double>(unit / speeds[kind]);
              row.push_back(sum);
            }
            return row;
          }};
}

void expect_valid(const ChainPartition& partition, const PartCosts& costs) {
  std::size_t end = 0;
  double heaviest = 0;
  for (const Part& part : partition.parts) {
    EXPECT_EQ(part.begin, end);
    end = part.end;
    heaviest = std::max(heaviest, costs.from(part.kind, part.begin)[part.end - part.begin]);
  }
  EXPECT_EQ(end, costs.items());
  EXPECT_EQ(heaviest, partition.bottleneck);
}

/// "129/4" times `unit`, exactly.
double times_unit(const std::string& fraction, std::int64_t unit) {
  const auto slash = fraction.find('/');
  const bool whole = slash == std::string::npos;
  const std::int64_t under = whole ? 1 : std::stoll(fraction.substr(slash + 1));
  EXPECT_EQ(unit % under, 0);
  return static_cast<double>(std::stoll(fraction) * (unit / under));
}

nlohmann::json known_cases() {
  return read_json(millrace::test::shared_folder() / "oracles/chain_partition.json");
}

TEST(Chain, equal_processors_get_the_known_bottleneck_in_every_case) {
  MILLRACE_NEEDS_SHARED("oracles/chain_partition.json");
  const auto known = known_cases();
  for (const auto& each : known["homogeneous"]) {
    SCOPED_TRACE(each["id"].get<std::string>());
    const PartCosts costs = costs_of(each["weights"].get<std::vector<double>>(), {1}, 1);
    const std::vector<std::size_t> counts{each["P"].get<std::size_t>()};
    const ChainPartition found = partition_in_any_order(costs, counts);
    EXPECT_EQ(found.bottleneck, each["bottleneck"].get<double>());
    EXPECT_EQ(found.parts.size(), counts[0]);
    expect_valid(found, costs);
    const std::vector<std::size_t> order(counts[0], 0);
    EXPECT_EQ(partition_in_order(costs, order).bottleneck, found.bottleneck);
  }
  EXPECT_EQ(known["homogeneous"].size(), 32u);
}

TEST(Chain, different_processors_get_the_known_bottlenecks_in_every_case) {
  MILLRACE_NEEDS_SHARED("oracles/chain_partition.json");
  const auto known = known_cases();
  for (const auto& each : known["heterogeneous"]) {
    SCOPED_TRACE(each["id"].get<std::string>());
    const auto speeds = each["speeds"].get<std::vector<std::int64_t>>();
    const std::int64_t unit =
        std::accumulate(speeds.begin(), speeds.end(), std::int64_t{1},
                        [](std::int64_t a, std::int64_t b) { return std::lcm(a, b); });
    const PartCosts costs = costs_of(each["weights"].get<std::vector<double>>(), speeds, unit);
    std::vector<std::size_t> order(speeds.size());
    std::iota(order.begin(), order.end(), 0u);
    const ChainPartition fixed = partition_in_order(costs, order);
    EXPECT_EQ(fixed.bottleneck, times_unit(each["fixed_order_optimum"], unit));
    expect_valid(fixed, costs);
    const ChainPartition free =
        partition_in_any_order(costs, std::vector<std::size_t>(speeds.size(), 1));
    EXPECT_EQ(free.bottleneck, times_unit(each["free_order_optimum"], unit));
    expect_valid(free, costs);
  }
  EXPECT_EQ(known["heterogeneous"].size(), 8u);
}

TEST(Chain, among_equal_bottlenecks_the_smaller_total_wins) {
  // A part of 10 cannot be avoided; what follows costs 5 in one part, 4 + 4 in two.
  const PartCosts costs(3, 1, [](std::size_t, std::size_t begin) {
    if (begin == 0) return std::vector<double>{10, 12, 16};
    if (begin == 1) return std::vector<double>{4, 5};
    return std::vector<double>{4};
  });
  const ChainPartition found = partition_in_any_order(costs, std::vector<std::size_t>{3});
  EXPECT_EQ(found.bottleneck, 10);
  double total = 0;
  for (const Part& part : found.parts) total += costs.from(0, part.begin)[part.end - part.begin];
  EXPECT_EQ(total, 15);
}

TEST(Chain, nothing_to_partition_costs_nothing) {
  const PartCosts costs(0, 1, [](std::size_t, std::size_t) { return std::vector<double>{}; });
  EXPECT_EQ(partition_in_any_order(costs, std::vector<std::size_t>{2}).bottleneck, 0);
}

}  // namespace
}  // namespace millrace::explore
