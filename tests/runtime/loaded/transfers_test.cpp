// Plans with transfers compute what the layers one after the other compute.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/reference/reference.h"
#include "engine/simulated/paced.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "plan/device_boards.h"
#include "runtime/session.h"
#include "runtime/sketch.h"
#include "runtime/stage_times.h"
#include "support/network_builder.h"

namespace millrace::runtime {
namespace {

using Arrays = std::vector<network::Array>;
constexpr std::uint64_t card_networks = 300;
constexpr std::size_t card_frames = 5;

plan::Plan random_plan(Random& random, const network::Network& network) {
  const std::size_t processors = 2 + random.below(4), devices = 1 + random.below(processors - 1);
  const auto board =
      plan::test::board_with_devices(processors, devices, static_cast<int>(random.below(3)));
  std::vector<std::size_t> mapping;
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    mapping.push_back(random.below(processors));
  return plan::build(
      network, board, test::mapping(mapping),
      {.engine = "simulated", .capacity = static_cast<std::int64_t>(1 + random.below(3))});
}

bool is_equal(const Arrays& a, const Arrays& b) {
  return std::ranges::equal(a, b, [](const network::Array& one, const network::Array& other) {
    return std::ranges::equal(one.bytes(), other.bytes());
  });
}

class Simulated : public testing::Test {
 protected:
  Simulated()
      : engine_(*reference_, {"core0", board::ProcessorKind::cpu, {0}},
                [](const auto&) { return engine::simulated::RunTime{}; }) {}
  std::unique_ptr<engine::Engine> reference_ = engine::reference::make();
  engine::simulated::PacedEngine engine_;
};

TEST_F(Simulated, random_networks_with_transfers_compute_what_the_loops_compute) {
  std::size_t copies = 0;
  for (std::uint64_t seed = 0; seed < card_networks; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const network::Network network = test::random_network(random, 25);
    const plan::Plan plan = random_plan(random, network);
    for (const plan::Stage& stage : plan.stages)
      for (const plan::Phase& phase : stage.phases) copies += phase.transfer ? 1u : 0u;
    Session session = deploy(plan, network, {{"simulated", &engine_}},
                             {.pin = false, .spin = {}, .caller_spin = {}});
    std::vector<Arrays> inputs;
    std::size_t taken = 0;
    const auto take = [&] {
      const auto result = session.next();
      ASSERT_TRUE(result);
      ASSERT_TRUE(is_equal(result->outputs, evaluate(network, inputs[taken++])));
    };
    while (inputs.size() < card_frames) {
      inputs.push_back(test::random_inputs(random, network));
      while (!session.submit_unless_result(inputs.back())) take();
    }
    session.finish();
    while (taken < card_frames) take();
  }
  EXPECT_GT(copies, 5 * card_networks);
}

TEST_F(Simulated, phases_of_plans_with_transfers_are_measured) {
  Random random(7);
  const network::Network network = test::random_network(random, 25);
  const plan::Plan plan = random_plan(random, network);
  StageTrials trials(plan, network, {{"simulated", &engine_}});
  for (std::size_t s = 0; s < trials.count(); ++s)
    EXPECT_GE(trials.run(s, std::chrono::milliseconds(1)).total(), Time{});
}

}  // namespace
}  // namespace millrace::runtime
