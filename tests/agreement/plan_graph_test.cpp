// What `analyze` says of a plan is what any tool finds in the graph that `export` writes.
#include <gtest/gtest.h>

#include "analysis/proof.h"
#include "dataflow/sdf3.h"
#include "plan/networks.h"

namespace millrace {
namespace {

using namespace plan::test;

TEST(PlanGraph, as_an_sdf3_file_has_the_throughput_of_the_plan) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto network = random_network(random, 25);
    const auto plan =
        plan::build(network, board_of(4), random_mapping(random, network.layers.size(), 4),
                    {.capacity = 1 + static_cast<std::int64_t>(seed % 3)});
    plan::PhaseTimes times(plan);
    for (auto& phases : times)
      for (Time& time : phases) time = Time(random.below(1'000'000));
    const analysis::Proof proof = analysis::prove(plan, network, times);
    const dataflow::Sdf3File file =
        dataflow::parse_sdf3(dataflow::to_sdf3(proof.graph), "plan.xml");
    const auto read = dataflow::throughput(file.graph);
    ASSERT_TRUE(read && proof.throughput);
    EXPECT_EQ(file.ticks, 1);
    EXPECT_EQ(read->period(), proof.throughput->period());
    EXPECT_EQ(dataflow::repetition_vector(file.graph), proof.cycles);
  }
}

}  // namespace
}  // namespace millrace
