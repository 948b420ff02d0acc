// As few slots as keep a plan's throughput.
#include "analysis/capacities.h"
#include "plan/capacities.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dataflow/analysis.h"
#include "networks.h"
#include "plan/steps.h"
#include "schedule/graph.h"

namespace millrace::plan {
namespace {

using namespace test;
using dataflow::Fraction;

Fraction period_of(const Plan& plan, const network::Network& network, const PhaseTimes& times,
                   bool bounded = true) {
  return dataflow::throughput(
             schedule::csdf_graph(plan, network, {.phase_times = times, .bounded = bounded}))
      .value()
      .period();
}

/// A plan whose phases have too small offsets, so that more slots than the least may be needed.
Plan tight_plan(Random& random, const network::Network& network, std::int64_t most_offset) {
  return build(network, board_of(3), random_mapping(random, network.layers.size(), 3),
               {.most_offset = most_offset});
}

network::Network weighted_network(Random& random, std::size_t layers) {
  network::Network network = random_network(random, layers);
  for (network::Tensor& each : network.tensors)
    each.shape = {1, 1 + static_cast<std::int64_t>(random.below(5))};
  return network;
}

TEST(SmallestSlots, keep_the_throughput_of_slots_without_end) {
  std::size_t smallest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto network = weighted_network(random, 25);
    const Plan plan = tight_plan(random, network, static_cast<std::int64_t>(seed % 4));
    const auto times = random_times(random, plan, 9);
    const auto sizing = analysis::smallest_slots(plan, network, times);
    ASSERT_TRUE(sizing);
    const Plan sized = with_slots(plan, sizing->capacities, 0);
    ASSERT_NO_THROW(check(sized, network));
    EXPECT_EQ(slot_bytes(sized, network), sizing->total);
    EXPECT_EQ(sizing->period, period_of(plan, network, times, false));
    EXPECT_EQ(period_of(sized, network, times), sizing->period);
    EXPECT_LE(sizing->bound, sizing->total);
    smallest += sizing->is_smallest() ? 1 : 0;
  }
  EXPECT_GE(smallest, 270u);
}

/// All capacities of at most so many bytes in turn.
class Enumeration {
 public:
  Enumeration(const Plan& plan, const network::Network& network, const PhaseTimes& times,
              const analysis::SlotSizing& found)
      : plan_(plan), network_(network), times_(times), found_(found) {
    for (const Channel& channel : plan.channels)
      least_[channel.tensor] = std::max(least_[channel.tensor], offset_of(plan, channel) + 1);
    for (const auto& [tensor, slots] : least_) tensors_.push_back(tensor);
  }

  /// Whether fewer bytes than those found have the same period.
  bool finds_less() { return choose(0, found_.total.count - 1); }

 private:
  std::int64_t bytes(TensorId tensor) const { return network_[tensor].size().count; }

  bool choose(std::size_t next, std::int64_t left) {
    if (next == tensors_.size()) return period_of(plan_, network_, times_) <= found_.period;
    const TensorId tensor = tensors_[next];
    std::int64_t rest = 0;
    for (std::size_t i = next + 1; i < tensors_.size(); ++i)
      rest += bytes(tensors_[i]) * least_.at(tensors_[i]);
    for (std::int64_t slots = least_.at(tensor); slots * bytes(tensor) + rest <= left; ++slots) {
      for (Channel& channel : plan_.channels)
        if (channel.tensor == tensor) channel.capacity = slots;
      if (choose(next + 1, left - slots * bytes(tensor))) return true;
    }
    return false;
  }

  Plan plan_;
  const network::Network& network_;
  const PhaseTimes& times_;
  const analysis::SlotSizing& found_;
  std::map<TensorId, std::int64_t> least_;
  std::vector<TensorId> tensors_;
};

TEST(SmallestSlots, are_the_smallest_of_all) {
  std::size_t more_than_least = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto network = weighted_network(random, 7);
    const Plan plan = tight_plan(random, network, 0);
    const auto times = random_times(random, plan, 9);
    const auto sizing = analysis::smallest_slots(plan, network, times);
    ASSERT_TRUE(sizing);
    ASSERT_TRUE(sizing->is_smallest());
    EXPECT_FALSE(Enumeration(plan, network, times, *sizing).finds_less());
    const auto is_more = [](std::int64_t slots) { return slots > 1; };
    more_than_least +=
        std::any_of(sizing->capacities.begin(), sizing->capacities.end(), is_more) ? 1 : 0;
  }
  EXPECT_GT(more_than_least, 20u);  // the search has something to do
}

TEST(SmallestSlots, are_unknown_without_times) {
  const auto network = network_of(2, {{0, 1}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1}));
  const PhaseTimes times = predicted_times(plan, no_evidence(plan));
  EXPECT_TRUE(times.empty());
  EXPECT_FALSE(analysis::smallest_slots(plan, network, times));
}

TEST(WithSlots, gives_slack_to_what_leaves_its_stage) {
  const auto network = network_of(4, {{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  const Plan plan = build(network, board_of(2), mapping_of({0, 1, 0, 0}));
  std::vector<std::int64_t> ones(plan.channels.size(), 1);
  for (const Channel& channel : with_slots(plan, ones, 2).channels) {
    const bool inside = channel.tensor == network.layers[2].outputs[0];
    EXPECT_EQ(channel.capacity, inside ? 1 : 3) << network[channel.tensor].name;
  }
}

}  // namespace
}  // namespace millrace::plan
