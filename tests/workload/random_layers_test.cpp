// Random layers of random sizes in small scratchpads: the plays find no fault, and the outputs are
// those of the plain loops.
#include <gtest/gtest.h>

#include "base/error.h"
#include "random_targets.h"
#include "sample_program.h"
#include "support/network_builder.h"
#include "workload/facts.h"

namespace millrace::workload {
namespace {

using network::Network;
using test::NetworkBuilder;
using test::window;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
}

test::WindowOptions random_window(Random& random, std::int64_t kernel) {
  test::WindowOptions options;
  options.stride = between(random, 1, 3);
  options.pad = between(random, 0, kernel / 2);
  options.dilation = between(random, 1, 2);
  return options;
}

network::Shape random_image(Random& random, std::int64_t channels) {
  return {between(random, 1, 2), channels, between(random, 9, 30), between(random, 9, 30)};
}

Network random_convolution(Random& random) {
  NetworkBuilder builder(random());
  const std::int64_t groups = between(random, 0, 2) == 0 ? between(random, 2, 3) : 1;
  const TensorId x = builder.input(random_image(random, groups * between(random, 1, 12)));
  const std::int64_t kernel = between(random, 1, 4);
  const TensorId y = builder.conv(x, groups * between(random, 1, 20),
                                  window(kernel, random_window(random, kernel)), groups);
  const std::int64_t after = between(random, 0, 3);
  if (after == 0) builder.output(builder.unary(network::UnaryKind::relu, y));
  if (after == 1) builder.output(builder.unary(network::UnaryKind::leaky_relu, y, 0.2));
  if (after == 2) builder.output(builder.unary(network::UnaryKind::clip, y, -0.3, 0.4));
  if (after == 3) builder.output(y);
  return builder.build();
}

Network random_depthwise(Random& random) {
  NetworkBuilder builder(random());
  const std::int64_t channels = between(random, 2, 24), kernel = between(random, 1, 4);
  const TensorId x = builder.input(random_image(random, channels));
  builder.output(
      builder.conv(x, channels, window(kernel, random_window(random, kernel)), channels));
  return builder.build();
}

Network random_pool(Random& random) {
  NetworkBuilder builder(random());
  const std::int64_t kernel = between(random, 2, 3);
  const TensorId x = builder.input(random_image(random, between(random, 1, 24)));
  network::Pool pool;
  pool.window = window(kernel, {.stride = between(random, 1, 3), .pad = between(random, 0, 1)});
  pool.kind = between(random, 0, 1) == 0 ? network::PoolKind::max : network::PoolKind::average;
  pool.count_include_pad = between(random, 0, 1) == 0;
  builder.output(
      builder.layer(pool, {x}, test::slide(pool.window, builder.shape(x), builder.shape(x)[1])));
  return builder.build();
}

Network random_elementwise(Random& random) {
  NetworkBuilder builder(random());
  const network::Shape shape = random_image(random, between(random, 1, 24));
  const TensorId x = builder.input(shape);
  const std::int64_t kind = between(random, 0, 3);
  if (kind == 0) {
    builder.output(builder.unary(network::UnaryKind::leaky_relu, x, 0.1));
  } else if (kind == 1) {
    builder.output(builder.binary(network::BinaryKind::add, x, builder.input(shape)));
  } else if (kind == 2) {
    builder.output(
        builder.binary(network::BinaryKind::mul, x, builder.constant({1, shape[1], 1, 1})));
  } else {
    builder.output(builder.binary(network::BinaryKind::mul, x, builder.constant({1})));
  }
  return builder.build();
}

Network random_product(Random& random) {
  NetworkBuilder builder(random());
  const std::int64_t rows = between(random, 1, 5), depth = between(random, 1, 300),
                     outs = between(random, 1, 90);
  const bool turned = between(random, 0, 1) == 0;
  const TensorId x = builder.input({rows, depth});
  const TensorId w =
      builder.constant(turned ? network::Shape{outs, depth} : network::Shape{depth, outs});
  network::Gemm gemm;
  gemm.transpose_b = turned;
  builder.output(builder.layer(gemm, {x, w, builder.constant({outs})}, {rows, outs}));
  return builder.build();
}

using MakeNetwork = Network (*)(Random&);

/// `least`: so many layers go through a memory between.
void expect_right(MakeNetwork make, std::uint64_t seed, std::size_t least) {
  Random random(seed);
  std::size_t staged = 0;
  for (int round = 0; round < 60; ++round) {
    const Network network = make(random);
    const TileTarget target = random_target(random, {1500, 30000});
    SCOPED_TRACE(round);
    expect_equal_to_the_loops(network, target);
    const Program program = compile(network, target).program;
    for (const Workload& one : program.workloads)
      staged += facts_of(one, program.memories.size()).between > 0 ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GE(staged, least);
}

TEST(RandomLayers, convolutions_in_tiles_are_right) { expect_right(random_convolution, 1, 10); }
TEST(RandomLayers, depthwise_convolutions_in_tiles_are_right) {
  expect_right(random_depthwise, 2, 10);
}
TEST(RandomLayers, pools_in_tiles_are_right) { expect_right(random_pool, 3, 10); }
TEST(RandomLayers, elementwise_layers_in_tiles_are_right) {
  expect_right(random_elementwise, 4, 1);
}
TEST(RandomLayers, products_in_tiles_are_right) { expect_right(random_product, 5, 3); }

TEST(RandomLayers, graphs_in_tiles_are_right) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    TileTarget target;
    target.scratchpad = Bytes{4000};
    SCOPED_TRACE(round);
    expect_equal_to_the_loops(test::random_network(random, 10), target);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace millrace::workload
