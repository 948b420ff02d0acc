#include "analysis/proof.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/networks.h"

namespace millrace::analysis {
namespace {

using namespace plan::test;

network::Network chain() { return network_of(2, {{0, 1}}); }

plan::Plan two_stages() { return plan::build(chain(), board_of(2), mapping_of({0, 1})); }

TEST(Prove, names_the_slowest_stage_where_nothing_waits) {
  const Proof proof = prove(two_stages(), chain(), {{Time(3)}, {Time(5)}});
  ASSERT_TRUE(proof.throughput);
  EXPECT_EQ(proof.throughput->period(), dataflow::Fraction(5));
  ASSERT_EQ(proof.critical.size(), 1u);
  EXPECT_EQ(proof.critical[0].name, "stage1, phase 0");
  EXPECT_EQ(proof.critical[0].time, Time(5));
  EXPECT_EQ(proof.critical[0].then, "");
  EXPECT_EQ(proof.latency, Time(8));
  EXPECT_EQ(proof.cycles, (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(Prove, names_the_channel_whose_space_stages_wait_for) {
  plan::Plan plan = plan::build(chain(), board_of(2), mapping_of({0, 1}), {.capacity = 1});
  const Proof proof = prove(plan, chain(), {{Time(3)}, {Time(5)}});
  ASSERT_TRUE(proof.throughput);
  EXPECT_EQ(proof.throughput->period(), dataflow::Fraction(8));
  std::vector<std::string> then;
  for (const CriticalPhase& phase : proof.critical) then.push_back(phase.name + " " + phase.then);
  std::sort(then.begin(), then.end());
  EXPECT_EQ(then,
            (std::vector<std::string>{"stage0, phase 0 gives 't0' to stage1, phase 0",
                                      "stage1, phase 0 frees space of 't0' for stage0, phase 0"}));
  ASSERT_TRUE(proof.smallest);
  EXPECT_EQ(proof.smallest->period, dataflow::Fraction(5));  // with a second slot
}

TEST(Prove, says_nothing_of_speed_without_times) {
  const Proof proof = prove(two_stages(), chain(), {});
  EXPECT_FALSE(proof.throughput);
  EXPECT_FALSE(proof.latency);
  EXPECT_FALSE(proof.smallest);
  EXPECT_EQ(proof.slots, Bytes{3 * 2 * 4 * 4});  // three tensors, two slots, four floats
}

}  // namespace
}  // namespace millrace::analysis
