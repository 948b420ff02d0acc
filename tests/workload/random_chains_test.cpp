// Random layers that follow each other, in scratchpads of random sizes: the plays find no fault,
// and the outputs are those of the plain loops.
#include <gtest/gtest.h>

#include "base/error.h"
#include "sample_program.h"
#include "support/network_builder.h"

namespace millrace::workload {
namespace {

using network::Network;
using test::NetworkBuilder;
using test::window;

class RandomChain {
 public:
  explicit RandomChain(std::uint64_t seed) : random_(seed), builder_(random_()) {}

  Network build() {
    TensorId x = builder_.input({1, between(1, 10), between(12, 40), between(9, 40)});
    const std::int64_t layers = between(2, 7);
    for (std::int64_t i = 0; i < layers && builder_.shape(x)[2] > 8 && builder_.shape(x)[3] > 8;
         ++i)
      x = next(x);
    builder_.output(x);
    return builder_.build();
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(high - low + 1)));
  }

 private:
  TensorId next(TensorId x) {
    switch (between(0, 6)) {
      case 0:
        return convolution(x, between(1, 12), 1);
      case 1:
        return convolution(x, builder_.shape(x)[1], builder_.shape(x)[1]);
      case 2:
        return pointwise(x, between(1, 12));
      case 3:
        return pool(x);
      case 4:
        return builder_.unary(network::UnaryKind::relu, x);
      case 5:
        return block(x);
      default:
        return by_channel(x);
    }
  }

  TensorId convolution(TensorId x, std::int64_t outputs, std::int64_t groups) {
    const std::int64_t kernel = between(2, 4);
    test::WindowOptions options;
    options.stride = between(1, 2);
    options.pad = between(0, kernel / 2);
    if (builder_.shape(x)[2] > 20) options.dilation = between(1, 2);
    const TensorId y = builder_.conv(x, outputs, window(kernel, options), groups);
    return between(0, 1) == 0 ? y : builder_.unary(network::UnaryKind::relu, y);
  }

  TensorId pointwise(TensorId x, std::int64_t outputs) {
    return builder_.unary(network::UnaryKind::clip, builder_.conv(x, outputs, window(1)), -0.5,
                          0.5);
  }

  TensorId pool(TensorId x) {
    network::Pool pool;
    pool.window = window(between(2, 3), {.stride = between(1, 2), .pad = between(0, 1)});
    pool.kind = between(0, 1) == 0 ? network::PoolKind::max : network::PoolKind::average;
    pool.count_include_pad = between(0, 1) == 0;
    return builder_.layer(pool, {x},
                          test::slide(pool.window, builder_.shape(x), builder_.shape(x)[1]));
  }

  /// Around two convolutions.
  TensorId block(TensorId x) {
    const TensorId y = pointwise(x, between(1, 12));
    const TensorId z = builder_.conv(y, builder_.shape(x)[1], window(3, {.pad = 1}));
    return between(0, 1) == 0 ? builder_.binary(network::BinaryKind::add, z, x)
                              : builder_.binary(network::BinaryKind::add, x, z);
  }

  TensorId by_channel(TensorId x) {
    return builder_.binary(network::BinaryKind::mul, x,
                           builder_.constant({1, builder_.shape(x)[1], 1, 1}));
  }

  Random random_;
  NetworkBuilder builder_;
};

TEST(RandomChains, in_tiles_are_right) {
  std::size_t fused = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomChain chain(seed);
    const Network network = chain.build();
    TileTarget target;
    target.may_overlap = chain.between(0, 1) == 0;
    target.scratchpad = Bytes{chain.between(4000, 60000)};
    target.run_seconds = 1e-9;
    SCOPED_TRACE(seed);
    expect_equal_to_the_loops(network, target);
    for (const LayerTiling& tiling : compile(network, target).tilings)
      fused += tiling.before.size();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(fused, 300u);
}

}  // namespace
}  // namespace millrace::workload
