// Any mapping runs, and computes what a sequential run computes: random networks on random
// processors, in non-contiguous pieces, with tensors that skip over stages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/reference/reference.h"
#include "network/batch.h"
#include "network/evaluate/evaluate.h"
#include "plan/build.h"
#include "plan/with_replicas.h"
#include "runtime/sequential.h"
#include "runtime/session.h"
#include "runtime/sketch.h"
#include "support/network_builder.h"

namespace millrace::runtime {
namespace {

constexpr std::uint64_t networks = 1000;
constexpr std::uint64_t networks_with_batches = 300;
constexpr std::uint64_t networks_with_replicas = 200;
constexpr std::uint64_t shards = 4;
using Frame = std::vector<network::Array>;

struct Case {
  network::Network network;
  plan::Plan plan;
  std::vector<Frame> inputs;
  std::size_t at_most = 1000;  // frames on their way
};

/// Runs of layers with one batch each, where the network allows it.
std::vector<std::int64_t> random_batches(Random& random, const network::Network& network) {
  std::vector<std::int64_t> batches;
  while (batches.size() < network.layers.size())
    batches.insert(batches.end(), 1 + random.below(6), std::int64_t{1} << random.below(4));
  batches.resize(network.layers.size());
  for (std::size_t i = 0; i < batches.size(); ++i)
    if (!network::can_batch(network, LayerId(i))) batches[i] = 1;
  return batches;
}

Case random_case(std::uint64_t seed, bool with_batches) {
  Random random(seed);
  Case result;
  result.network = test::random_network(random, 40);
  const auto board = test::imagined_board(1 + random.below(6));
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; i < result.network.layers.size(); ++i)
    processors.push_back(random.below(board.processors.size()));
  const auto capacity = static_cast<std::int64_t>(1 + random.below(3));
  plan::BuildOptions options{.engine = "reference", .capacity = capacity};
  if (with_batches) options.batches = random_batches(random, result.network);
  result.plan = plan::build(result.network, board, test::mapping(processors), options);
  const std::size_t frames = with_batches ? 1 + random.below(20) : 3;
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
  const std::size_t frames = the.inputs.size();
  std::size_t submitted = 0;
  for (std::size_t taken = 0; taken < frames; ++taken) {
    while (submitted < std::min(frames, taken + the.at_most) &&
           session.submit_unless_result(the.inputs[submitted]))
      ++submitted;
    if (submitted == frames) session.finish();
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->frame, static_cast<std::int64_t>(taken));
    expect_equal(result->outputs, expected[taken], "pipeline, frame " + std::to_string(taken));
  }
  EXPECT_FALSE(session.next());
}

void run_case(std::uint64_t seed, engine::Engine& engine) {
  const Case the = random_case(seed, false);
  std::vector<Frame> expected;
  for (const Frame& frame : the.inputs) expected.push_back(evaluate(the.network, frame));
  run_in_pipeline(the, engine, expected);
  Sequential sequential(the.network, engine, the.plan.stages[0].processors[0], {.pin = false});
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

/// Whether many frames are on their way or few, fewer than a batch too, and however they end.
TEST_P(RandomNetworks, with_random_batches_compute_what_each_frame_alone_gives) {
  const auto engine = engine::reference::make();
  std::size_t batching = 0;
  for (std::uint64_t seed = GetParam(); seed < networks_with_batches; seed += shards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Case the = random_case(seed, true);
    std::vector<Frame> expected;
    for (const Frame& frame : the.inputs) expected.push_back(evaluate(the.network, frame));
    for (const std::size_t at_most : {1u, 3u, 1000u}) {
      the.at_most = at_most;
      run_in_pipeline(the, *engine, expected);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    for (const plan::Stage& stage : the.plan.stages)
      for (const plan::Phase& phase : stage.phases) batching += phase.batch > 1 ? 1u : 0u;
  }
  EXPECT_GT(batching, networks_with_batches / shards);
}

/// Replicas take turns in any order of event_count, and frames still come out in order.
TEST_P(RandomNetworks, with_random_replicas_compute_what_a_sequential_run_computes) {
  const auto engine = engine::reference::make();
  std::size_t with_replicas = 0;
  for (std::uint64_t seed = GetParam(); seed < networks_with_replicas; seed += shards) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Case the;
    the.network = test::random_network(random, 25);
    const auto board = test::imagined_board(20);
    auto [mapping, options] =
        plan::test::random_replicas(random, the.network, board, 1 + random.below(4));
    options.engine = "reference";
    the.plan = plan::build(the.network, board, mapping, options);
    with_replicas += options.replicas.empty() ? 0u : 1u;
    std::vector<Frame> expected;
    while (the.inputs.size() < 11) {
      the.inputs.push_back(test::random_inputs(random, the.network));
      expected.push_back(evaluate(the.network, the.inputs.back()));
    }
    for (const std::size_t at_most : {1u, 3u, 1000u}) {
      the.at_most = at_most;
      run_in_pipeline(the, *engine, expected);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
  EXPECT_GT(with_replicas, networks_with_replicas / shards / 2);
}
INSTANTIATE_TEST_SUITE_P(Shards, RandomNetworks, testing::Range<std::uint64_t>(0, shards));

}  // namespace
}  // namespace millrace::runtime
