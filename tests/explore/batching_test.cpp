#include "explore/mapping/batching.h"

#include <gtest/gtest.h>

#include "explore/choose.h"
#include "support/network_builder.h"

namespace millrace::explore {
namespace {

using std::chrono::microseconds;

/// conv, relu, flatten, product, relu, product, softmax; the convolution's weights are fewer than
/// what it reads and writes, unless its images are of one pixel.
network::Network classifier(std::int64_t size = 8) {
  millrace::test::NetworkBuilder builder;
  const TensorId image = builder.input({1, 2, size, size});
  TensorId x = builder.conv(image, 2, millrace::test::window(3, {.pad = 1}));
  x = builder.unary(network::UnaryKind::relu, x);
  x = builder.layer(network::Reshape{}, {x}, {1, 2 * size * size});
  const TensorId matrix = builder.constant(network::Shape{2 * size * size, 8});
  x = builder.layer(network::MatMul{}, {x, matrix}, {1, 8});
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

const board::Variant direct{}, winograd{board::Precision::f32, "winograd_4x4"};

/// The products take 40 us on one frame and 1 more for each further one; the convolution 20, 30 on
/// two frames and 60 on four and more, with other algorithms.
profile::LayerTimes times_of(int us) {
  profile::LayerTimes times;
  times.together = times.alone = profile::statistics_of({microseconds(us)});
  if (us == 40)
    for (const int frames : {1, 2, 4, 8, 16})
      times.batches.push_back({frames, microseconds(39 + frames)});
  if (us == 20)
    times.batches = {{1, microseconds(20), direct},
                     {2, microseconds(30), winograd},
                     {4, microseconds(60), winograd}};
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

TEST(Ways, gather_from_the_first_product_behind_the_last_convolution_on) {
  const board::Board board = cores(1);
  const network::Network network = classifier();
  const profile::Profile profile = profile_on(board);
  const auto ways = Batching(network, board, profile).ways(8);
  ASSERT_EQ(ways.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t n = std::int64_t{2} << i;
    EXPECT_EQ(ways[i], (Batches{1, 1, 1, n, n, n, n}));
  }
}

TEST(Ways, gather_before_a_convolution_with_more_weights_than_pixels_too) {
  const board::Board board = cores(1);
  const network::Network network = classifier(1);
  const profile::Profile profile = profile_on(board);
  const auto ways = Batching(network, board, profile).ways(4);
  const std::vector<Batches> expected{{1, 1, 1, 2, 2, 2, 2},
                                      {2, 2, 2, 2, 2, 2, 2},
                                      {1, 1, 1, 4, 4, 4, 4},
                                      {2, 2, 2, 4, 4, 4, 4}};  // on four it takes as long as on two
  EXPECT_EQ(ways, expected);
}

TEST(Ways, do_not_begin_inside_a_fused_group) {
  const board::Board board = cores(1);
  millrace::test::NetworkBuilder builder;
  const TensorId x = builder.unary(network::UnaryKind::relu, builder.input({1, 8, 1, 1}));
  builder.output(builder.conv(x, 8, millrace::test::window(3, {.pad = 1})));
  const network::Network network = builder.build();
  profile::Profile profile = profile_on(board);
  profile.processors[0].layers = {times_of(1), times_of(20)};
  EXPECT_EQ(Batching(network, board, profile).ways(2), (std::vector<Batches>{{1, 2}}));
  profile.processors[0].layers[1].fused_into = LayerId(0);
  EXPECT_TRUE(Batching(network, board, profile).ways(2).empty());
}

TEST(Ways, are_none_without_weights) {
  millrace::test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 4})));
  const board::Board board = cores(1);
  profile::Profile profile = profile_on(board);
  profile.processors[0].layers.resize(1);
  EXPECT_TRUE(Batching(builder.build(), board, profile).ways(16).empty());
}

TEST(Batching, frames_share_the_time_of_layers_in_the_variants_of_so_many) {
  const board::Board board = cores(1);
  const network::Network network = classifier(1);
  const profile::Profile profile = profile_on(board);
  const Batching batching(network, board, profile);
  const Problem problem = batching.problem({2, 1, 1, 8, 8, 8, 8});
  EXPECT_DOUBLE_EQ(problem.time[0][0], 15'000);
  EXPECT_EQ(problem.variants[0][0], winograd);
  EXPECT_DOUBLE_EQ(problem.time[3][0], 47'000.0 / 8);
  EXPECT_DOUBLE_EQ(problem.time[4][0], 1'000);
  EXPECT_DOUBLE_EQ(batching.problem({16, 1, 1, 1, 1, 1, 1}).time[0][0], 15'000);
}

TEST(Choose, plans_that_gather_have_the_variants_of_one_frame_too) {
  const board::Board board = cores(1);
  const Choice choice =
      choose(classifier(1), board, profile_on(board), within(std::chrono::seconds(1)));
  const plan::Plan& plan = choice.winner().plan;
  ASSERT_EQ(plan.stages[0].phases[0].batch, 2);
  ASSERT_FALSE(plan.variants.empty());
  EXPECT_EQ(plan.variants[0], winograd);
  EXPECT_EQ(plan::one_frame_variants(plan)[0], direct);
  EXPECT_TRUE(choice.candidates.front().plan.one_frame_variants.empty());
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
  for (const plan::ReplicaEvidence& stage : winner.evidence.replicas)
    slowest = std::max(slowest, stage.predicted);
  EXPECT_EQ(winner.plan.stages.size(), 2u);
  EXPECT_LE(seconds(winner.bound), 1.002 * seconds(slowest));
}

TEST(Choose, replicas_of_the_whole_network_gather_too) {
  const board::Board board = cores(4);
  ChooseOptions options = within(std::chrono::seconds(1));
  options.search = "auto";
  options.genetic.epochs = 2;
  const Choice choice = choose(classifier(1), board, profile_on(board), options);
  std::int64_t most = 1;
  for (const Candidate& candidate : choice.candidates) {
    if (candidate.plan.stages[0].replicas() != 4 || candidate.batch == 1) continue;
    most = std::max(most, candidate.batch);
    EXPECT_NE(candidate.name.find("4 replicas, batch "), std::string::npos) << candidate.name;
    EXPECT_EQ(candidate.plan.stages.size(), 1u);
    EXPECT_EQ(candidate.plan.stages[0].phases.back().batch, candidate.batch);
    EXPECT_GE(static_cast<double>(candidate.bound.count()), choice.lower_bound - 1);
  }
  EXPECT_EQ(most, 4);  // more frames gain nothing where a layer in one piece takes longest
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
