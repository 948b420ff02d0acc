// Any mapping runs, and computes what a sequential run computes: random networks on random
// processors, in non-contiguous pieces, with tensors that skip over stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/reference/reference.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "runtime/sequential.h"
#include "runtime/session.h"
#include "runtime/sketch.h"
#include "support/network_builder.h"

namespace millrace::runtime {
namespace {

constexpr std::uint64_t networks = 1000;
constexpr std::uint64_t shards = 4;
constexpr std::size_t frames = 3;
using Frame = std::vector<network::Array>;

struct Case {
  network::Network network;
  plan::Plan plan;
  std::vector<Frame> inputs;
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case result;
  result.network = test::random_network(random, 40);
  const auto board = test::imagined_board(1 + random.below(6));
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; i < result.network.layers.size(); ++i)
    processors.push_back(random.below(board.processors.size()));
  const auto capacity = static_cast<std::int64_t>(1 + random.below(3));
  result.plan = plan::build(result.network, board, test::mapping(processors),
                            {.engine = "reference", .capacity = capacity});
  for (std::size_t i = 0; i < frames; ++i)
    result.inputs.push_back(test::random_inputs(random, result.network));
  return result;
}

void expect_equal(const Frame& found, const Frame& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto a = found[i].bytes(), b = expected[i].bytes();
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end())) << what << ", output " << i;
  }
}

void run_in_pipeline(const Case& the, engine::Engine& engine, const std::vector<Frame>& expected) {
  Session session = deploy(the.plan, the.network, {{"reference", &engine}},
                           {.pin = false, .spin = {}, .caller_spin = {}});
  std::size_t submitted = 0;
  for (std::size_t taken = 0; taken < frames; ++taken) {
    while (submitted < frames && session.try_submit(the.inputs[submitted])) ++submitted;
    if (submitted == frames) session.finish();
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->frame, static_cast<std::int64_t>(taken));
    expect_equal(result->outputs, expected[taken], "pipeline, frame " + std::to_string(taken));
  }
  EXPECT_FALSE(session.next());
}

void run_case(std::uint64_t seed, engine::Engine& engine) {
  const Case the = random_case(seed);
  std::vector<Frame> expected;
  for (const Frame& frame : the.inputs) expected.push_back(evaluate(the.network, frame));
  run_in_pipeline(the, engine, expected);
  Sequential sequential(the.network, engine, the.plan.stages[0].processor, {.pin = false});
  expect_equal(sequential.run(the.inputs[0]), expected[0], "sequential");
}

class RandomNetworks : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomNetworks, on_random_processors_compute_what_a_sequential_run_computes) {
  const auto engine = engine::reference::make();
  for (std::uint64_t seed = GetParam(); seed < networks; seed += shards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run_case(seed, *engine);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomNetworks, testing::Range<std::uint64_t>(0, shards));

}  // namespace
}  // namespace millrace::runtime
