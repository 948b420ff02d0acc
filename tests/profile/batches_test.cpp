#include "profile/batches.h"

#include <gtest/gtest.h>

#include "engine/registry.h"
#include "support/needs_engine.h"
#include "support/network_builder.h"

namespace millrace::profile {
namespace {

/// relu, then a product with a constant, then one with itself.
network::Network products() {
  test::NetworkBuilder builder;
  const TensorId x = builder.unary(network::UnaryKind::relu, builder.input({1, 6}));
  const TensorId w = builder.constant(network::Shape{6, 6});
  const TensorId y = builder.layer(network::MatMul{}, {x, w}, {1, 6});
  builder.output(builder.layer(network::Gemm{.transpose_a = true}, {y, y}, {6, 6}));
  return builder.build();
}

/// Three convolutions, the first with more pixels than weights; a product, a softmax.
network::Network images() {
  test::NetworkBuilder builder;
  TensorId x = builder.input({1, 4, 16, 16});
  x = builder.conv(x, 8, test::window(3, {.stride = 4, .pad = 1}));
  x = builder.conv(x, 16, test::window(3, {.stride = 2, .pad = 1}));
  x = builder.unary(network::UnaryKind::relu, x);
  x = builder.conv(x, 32, test::window(3, {.pad = 1}));
  x = builder.layer(network::Reshape{}, {x}, {1, 128});
  x = builder.layer(network::MatMul{}, {x, builder.constant(network::Shape{128, 8})}, {1, 8});
  builder.output(builder.layer(network::Softmax{1, 2}, {x}, {1, 8}));
  return builder.build();
}

MeasureOptions hasty() {
  MeasureOptions options;
  options.warmup = 0;
  options.least = 1;
  options.duration = Time(1);
  return options;
}

board::Board cores(std::size_t count) {
  board::Board board = board::this_machine();
  board.processors.resize(1, board.processors[0]);
  while (board.processors.size() < count) {
    board.processors.push_back(board.processors[0]);
    board.processors.back().name = "other";
  }
  return board;
}

TEST(GainsByBatches, products_with_a_constant_matrix_do) {
  const network::Network network = products();
  EXPECT_FALSE(gains_by_batches(network, LayerId(0)));
  EXPECT_TRUE(gains_by_batches(network, LayerId(1)));
  EXPECT_FALSE(gains_by_batches(network, LayerId(2)));
}

TEST(GainsByBatches, convolutions_with_more_weights_than_pixels_do) {
  const network::Network network = images();
  EXPECT_FALSE(gains_by_batches(network, LayerId(0)));
  EXPECT_TRUE(gains_by_batches(network, LayerId(1)));
  EXPECT_TRUE(gains_by_batches(network, LayerId(3)));
}

TEST(Tail, begins_where_weights_are_more_and_ends_where_frames_mix) {
  EXPECT_EQ(tail_in_batches(images()), (Tail{1, 5, 7}));
  EXPECT_EQ(tail_in_batches(products()), (Tail{1, 1, 2}));
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({1, 4})));
  EXPECT_EQ(tail_in_batches(builder.build()), Tail{});
}

TEST(MeasureBatches, is_complete_though_a_layer_before_the_tail_would_gain) {
  test::NetworkBuilder builder;
  const TensorId x = builder.conv(builder.input({1, 8, 1, 1}), 8, test::window(3, {.pad = 1}));
  const TensorId pair = builder.concat(0, {x, builder.constant(network::Shape{1, 8, 1, 1})});
  const TensorId flat = builder.layer(network::Reshape{}, {pair}, {1, 16});
  const TensorId matrix = builder.constant(network::Shape{16, 8});
  builder.output(builder.layer(network::MatMul{}, {flat, matrix}, {1, 8}));
  const network::Network network = builder.build();
  EXPECT_TRUE(gains_by_batches(network, LayerId(0)));
  EXPECT_EQ(tail_in_batches(network).first, 3u);
  const auto engine = engine::make_engine("reference");
  Profile profile = measure(network, cores(1), *engine, hasty());
  measure_batches(profile, network, *engine, hasty());
  EXPECT_TRUE(has_batches(profile, network));
}

TEST(MeasureBatches, leaves_precisions_alone_that_are_not_asked_for) {
  const network::Network network = images();
  const auto engine = engine::make_engine("reference");
  Profile profile = measure(network, cores(1), *engine, hasty());
  MeasureOptions options = hasty();
  options.precisions = {board::Precision::int8};
  EXPECT_TRUE(has_batches(profile, network, options));
  measure_batches(profile, network, *engine, options);
  for (const LayerTimes& layer : profile.processors[0].layers) EXPECT_TRUE(layer.batches.empty());
}

TEST(MeasureBatches, times_the_tail_for_as_long_as_frames_gain) {
  for (const network::Network& network : {products(), images()}) {
    const board::Board board = cores(1);
    const auto engine = engine::make_engine("reference");
    Profile profile = measure(network, board, *engine, hasty());
    EXPECT_FALSE(has_batches(profile, network));
    measure_batches(profile, network, *engine, hasty());
    EXPECT_TRUE(has_batches(profile, network));
    const Tail tail = tail_in_batches(network);
    const auto& layers = profile.processors[0].layers;
    for (std::size_t i = 0; i < tail.first; ++i) EXPECT_TRUE(layers[i].batches.empty());
    const auto& batches = layers[tail.first].batches;
    ASSERT_GE(batches.size(), 4u);
    EXPECT_LE(batches.size(), 5u);
    for (std::size_t i = 0; i < batches.size(); ++i) {
      EXPECT_EQ(batches[i].frames, std::int64_t{1} << i);
      EXPECT_GT(batches[i].time, Time{});
    }
  }
}

TEST(MeasureBatches, what_took_its_variants_over_takes_these_over_too) {
  MILLRACE_NEEDS_ENGINE("onednn");
  const board::Board board = cores(2);
  const network::Network network = images();
  const auto engine = engine::make_engine("onednn");
  Profile profile = measure(network, board, *engine, hasty());
  measure_batches(profile, network, *engine, hasty());
  const auto &first = profile.processors[0].layers, &second = profile.processors[1].layers;
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].batches, second[i].batches);
  ASSERT_FALSE(first[3].batches.empty());
  for (const BatchTime& batch : first[3].batches)
    EXPECT_TRUE(std::any_of(
        first[3].alternatives.begin(), first[3].alternatives.end(), [&](const Alternative& each) {
          return each.variant == batch.variant && each.error && *each.error <= 1e-3;
        }));
}

}  // namespace
}  // namespace millrace::profile
