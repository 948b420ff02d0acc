#include "explore/precision/precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "problems.h"

namespace millrace::explore {
namespace {

using board::Precision;
using profile::Loss;
using test::bf16;
using test::f32;
using test::int8;

/// A made-up network in which every layer in a low precision changes its own number of answers out
/// of a thousand, and these add up.
struct MadeUp {
  PrecisionProblem problem;
  std::vector<std::vector<std::int64_t>> changed;  // by layer and precision

  MadeUp& layer() {
    problem.base.push_back(Precision::f32);
    changed.emplace_back(4, 0);
    return *this;
  }
  MadeUp& low(Precision precision, double saved_ns, std::int64_t changes) {
    problem.lowerings.push_back({LayerId(problem.base.size() - 1), precision, saved_ns});
    changed.back()[static_cast<std::size_t>(precision)] = changes;
    return *this;
  }
  Loss loss(const std::vector<Precision>& precisions) const {
    Loss loss;
    loss.frames = loss.answers = 1000;
    for (std::size_t i = 0; i < precisions.size(); ++i)
      loss.changed += changed[i][static_cast<std::size_t>(precisions[i])];
    return loss;
  }
  PrecisionChoice choose(double budget) const {
    return choose_precisions(problem, budget, [this](const auto& p) { return loss(p); });
  }
};

TEST(Precision, everything_is_lowered_where_the_budget_allows_it) {
  const auto choice = MadeUp().layer().low(bf16, 10, 3).layer().low(bf16, 20, 4).choose(0.01);
  EXPECT_EQ(choice.precisions, (std::vector{bf16, bf16}));
  EXPECT_TRUE(choice.within_budget);
  EXPECT_EQ(choice.loss.changed, 7);
  EXPECT_EQ(choice.saved_ns, 30);
}

TEST(Precision, the_layer_that_costs_most_for_its_time_is_given_back_first) {
  const auto choice = MadeUp()
                          .layer()
                          .low(bf16, 100, 8)
                          .layer()
                          .low(bf16, 10, 6)
                          .layer()
                          .low(bf16, 50, 1)
                          .choose(0.01);
  EXPECT_EQ(choice.precisions, (std::vector{bf16, f32, bf16}));
  EXPECT_EQ(choice.loss.changed, 9);
  EXPECT_EQ(choice.saved_ns, 150);
}

TEST(Precision, a_layer_goes_back_by_way_of_the_precision_between) {
  MadeUp net;
  net.layer().low(bf16, 80, 1).low(int8, 100, 20).layer().low(bf16, 80, 2).low(int8, 100, 5);
  EXPECT_EQ(net.choose(0.03).precisions, (std::vector{int8, int8}));
  EXPECT_EQ(net.choose(0.01).precisions, (std::vector{bf16, int8}));
  EXPECT_EQ(net.choose(0.003).precisions, (std::vector{bf16, bf16}));
  EXPECT_EQ(net.choose(0.001).precisions, (std::vector{bf16, f32}));
  EXPECT_EQ(net.choose(0).precisions, (std::vector{f32, f32}));
}

TEST(Precision, a_precision_between_that_helps_little_is_skipped) {
  MadeUp net;
  net.layer().low(bf16, 10, 20).low(int8, 100, 21).layer().low(bf16, 10, 1);
  EXPECT_EQ(net.choose(0.02).precisions, (std::vector{f32, bf16}));
}

TEST(Precision, the_error_decides_between_layers_that_change_no_answer) {
  MadeUp net;
  net.layer().low(bf16, 10, 0).layer().low(bf16, 10, 0).layer().low(bf16, 10, 0);
  const auto measure = [&](const std::vector<Precision>& precisions) {
    Loss loss;
    loss.frames = loss.answers = 10;
    int low = 0;
    for (std::size_t i = 0; i < precisions.size(); ++i) {
      low += precisions[i] == bf16;
      if (precisions[i] == bf16) loss.mean_error += i == 1 ? 0.5 : 0.1;
    }
    loss.changed = low == 3 ? 1 : 0;  // only all together change an answer
    return loss;
  };
  const auto choice = choose_precisions(net.problem, 0.05, measure);
  EXPECT_EQ(choice.precisions, (std::vector{bf16, f32, bf16}));
}

TEST(Precision, a_useless_layer_is_given_back) {
  MadeUp net;
  net.layer().low(int8, 1000, 0).layer().low(int8, 1, 0);
  const auto measure = [&](const std::vector<Precision>& precisions) {
    Loss loss;
    loss.frames = loss.answers = 10;
    if (precisions[0] == int8) {
      loss.changed = 10;
      loss.mean_error = std::numeric_limits<double>::infinity();
    }
    return loss;
  };
  EXPECT_EQ(choose_precisions(net.problem, 0, measure).precisions, (std::vector{f32, int8}));
}

TEST(Precision, says_when_not_even_the_base_is_within_the_budget) {
  MadeUp net;
  net.layer().low(int8, 10, 30);
  net.problem.base[0] = bf16;
  net.changed[0][static_cast<std::size_t>(bf16)] = 20;
  const auto choice = net.choose(0.01);
  EXPECT_FALSE(choice.within_budget);
  EXPECT_EQ(choice.precisions, (std::vector{bf16}));
  EXPECT_EQ(choice.loss.changed, 20);
}

TEST(Precision, without_anything_to_lower_the_base_is_measured) {
  const auto choice = MadeUp().layer().layer().choose(0);
  EXPECT_EQ(choice.precisions, (std::vector{f32, f32}));
  EXPECT_TRUE(choice.within_budget);
  EXPECT_EQ(choice.saved_ns, 0);
}

TEST(Precision, costs_are_those_of_each_layer_alone) {
  const auto choice = MadeUp().layer().low(bf16, 10, 3).low(int8, 20, 9).choose(1);
  ASSERT_EQ(choice.costs.size(), 2u);
  EXPECT_EQ(choice.costs[0].loss.changed, 3);
  EXPECT_EQ(choice.costs[1].loss.changed, 9);
  EXPECT_EQ(choice.costs[1].lowering, (Lowering{LayerId(0), int8, 20}));
}

/// Many layers with random gains and costs.
MadeUp random_net(std::uint64_t seed, std::size_t layers) {
  Random random(seed);
  MadeUp net;
  for (std::size_t i = 0; i < layers; ++i) {
    const auto number = [&](std::uint64_t bound) {
      return static_cast<std::int64_t>(random.below(bound));
    };
    const std::int64_t some = number(10);
    net.layer().low(bf16, static_cast<double>(1 + number(1000)), some);
    net.low(int8, static_cast<double>(1 + number(2000)), some + number(20));
  }
  return net;
}

TEST(Precision, whatever_the_layers_the_budget_holds_and_what_is_said_is_true) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const MadeUp net = random_net(seed, 1 + seed % 20);
    const auto choice = net.choose(0.03);
    EXPECT_TRUE(choice.within_budget);
    EXPECT_LE(choice.loss.changed_share(), 0.03);
    EXPECT_EQ(choice.loss, net.loss(choice.precisions));
    double saved = 0;
    for (const Lowering& lowering : net.problem.lowerings)
      if (choice.precisions[lowering.layer.index] == lowering.precision) saved += lowering.saved_ns;
    EXPECT_DOUBLE_EQ(choice.saved_ns, saved);
  }
}

/// The most time that any choice within the budget saves: a knapsack, exactly.
double most_saved(const MadeUp& net, std::size_t budget) {
  std::vector<double> best(budget + 1, 0);
  for (std::size_t layer = 0; layer < net.problem.base.size(); ++layer) {
    std::vector<double> next = best;
    for (const Lowering& low : net.problem.lowerings) {
      if (low.layer.index != layer) continue;
      const auto cost =
          static_cast<std::size_t>(net.changed[layer][static_cast<std::size_t>(low.precision)]);
      for (std::size_t b = cost; b <= budget; ++b)
        next[b] = std::max(next[b], best[b - cost] + low.saved_ns);
    }
    best = next;
  }
  return best[budget];
}

TEST(Precision, where_losses_add_up_hardly_any_time_is_wasted) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const MadeUp net = random_net(seed, 60);
    EXPECT_GT(net.choose(0.1).saved_ns, 0.93 * most_saved(net, 100)) << seed;
  }
}

TEST(Precision, few_measurements_are_needed) {
  const auto choice = random_net(1, 100).choose(0.03);
  EXPECT_LE(choice.measurements, 200 + 2 + 8);
}

}  // namespace
}  // namespace millrace::explore
