#include "explore/gather.h"

#include <gtest/gtest.h>

#include "explore/choose.h"
#include "support/network_builder.h"

namespace millrace::explore {
namespace {

using std::chrono::microseconds;

/// conv, relu, flatten, product, relu, product, softmax.
network::Network classifier() {
  millrace::test::NetworkBuilder builder;
  TensorId x = builder.conv(builder.input({1, 2, 4, 4}), 2, millrace::test::window(3, {.pad = 1}));
  x = builder.unary(network::UnaryKind::relu, x);
  x = builder.layer(network::Reshape{}, {x}, {1, 32});
  x = builder.layer(network::MatMul{}, {x, builder.constant(network::Shape{32, 8})}, {1, 8});
  x = builder.unary(network::UnaryKind::relu, x);
  x = builder.layer(network::MatMul{}, {x, builder.constant(network::Shape{8, 8})}, {1, 8});
  builder.output(builder.layer(network::Softmax{1, 2}, {x}, {1, 8}));
  return builder.build();
}

board::Board cores(int count) {
  board::Board board;
  for (int i = 0; i < count; ++i)
    board.processors.push_back({"core" + std::to_string(i), board::ProcessorKind::cpu, {i}});
  return board;
}

/// The products take 40 us on one frame and 1 more for each further one.
profile::LayerTimes times_of(int us) {
  profile::LayerTimes times;
  times.together = times.alone = profile::statistics_of({microseconds(us)});
  for (const int frames : {1, 2, 4, 8, 16})
    if (us == 40) times.batches.push_back({frames, microseconds(39 + frames)});
  return times;
}

profile::Profile profile_on(const board::Board& board) {
  profile::Profile profile;
  for (const board::Processor& processor : board.processors) {
    profile::ProcessorProfile& p = profile.processors.emplace_back();
    p.processor = processor;
    for (const int us : {20, 1, 1, 40, 1, 40, 1}) p.layers.push_back(times_of(us));
  }
  return profile;
}

ChooseOptions within(Time latency) {
  ChooseOptions options;
  options.search = "exact";
  options.max_latency = latency;
  return options;
}

TEST(LayersThatGather, are_those_from_the_first_product_behind_the_last_convolution_on) {
  EXPECT_EQ(layers_that_gather(classifier()),
            (std::vector<bool>{false, false, false, true, true, true, true}));
}

TEST(LayersThatGather, are_none_without_products) {
  millrace::test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 4})));
  EXPECT_EQ(layers_that_gather(builder.build()), (std::vector<bool>{false}));
}

TEST(WithBatch, products_share_their_time_among_the_frames) {
  const board::Board board = cores(1);
  const network::Network network = classifier();
  const Problem problem = make_problem(network, board, profile_on(board));
  const Problem batch =
      with_batch(problem, profile_on(board), board, {layers_that_gather(network), 8});
  EXPECT_DOUBLE_EQ(batch.time[0][0], 20'000);
  EXPECT_DOUBLE_EQ(batch.time[3][0], 47'000.0 / 8);
  EXPECT_DOUBLE_EQ(batch.time[4][0], 1'000);
}

TEST(Choose, layers_gather_only_within_a_largest_latency) {
  const board::Board board = cores(1);
  ChooseOptions options;
  options.search = "exact";
  const Choice choice = choose(classifier(), board, profile_on(board), options);
  EXPECT_EQ(choice.winner().batch, 1);
  for (const Candidate& candidate : choice.candidates) EXPECT_EQ(candidate.batch, 1);
}

TEST(Choose, a_batch_is_as_large_as_the_latency_allows) {
  const board::Board board = cores(1);
  const network::Network network = classifier();
  std::int64_t last = 0;
  for (const int limit : {120, 300, 600, 2000}) {
    const Choice choice = choose(network, board, profile_on(board), within(microseconds(limit)));
    EXPECT_TRUE(choice.in_time);
    EXPECT_LE(choice.winner().latency, microseconds(limit));
    EXPECT_GT(choice.winner().batch, last);
    last = choice.winner().batch;
    const plan::Plan& plan = choice.winner().plan;
    EXPECT_EQ(plan.stages[0].phases.back().batch, last);
    EXPECT_GE(static_cast<double>(choice.winner().bound.count()), choice.lower_bound - 1);
  }
  EXPECT_EQ(last, 16);
}

TEST(Choose, no_batch_is_larger_than_asked_for) {
  const board::Board board = cores(2);
  ChooseOptions options = within(std::chrono::seconds(1));
  options.max_batch = 4;
  EXPECT_EQ(choose(classifier(), board, profile_on(board), options).winner().batch, 4);
}

TEST(Choose, stages_do_not_wait_while_one_works_on_a_batch) {
  const board::Board board = cores(2);
  const Candidate winner =
      choose(classifier(), board, profile_on(board), within(std::chrono::seconds(1))).winner();
  Time slowest{};
  for (const plan::Stage& stage : winner.plan.stages) slowest = std::max(slowest, stage.predicted);
  EXPECT_EQ(winner.plan.stages.size(), 2u);
  EXPECT_LE(seconds(winner.bound), 1.002 * seconds(slowest));
}

TEST(Choose, a_latency_that_no_plan_keeps_is_said) {
  const board::Board board = cores(2);
  const Choice choice = choose(classifier(), board, profile_on(board), within(microseconds(10)));
  EXPECT_FALSE(choice.in_time);
  for (const Candidate& candidate : choice.candidates)
    EXPECT_GE(candidate.latency, choice.winner().latency);
}

}  // namespace
}  // namespace millrace::explore
