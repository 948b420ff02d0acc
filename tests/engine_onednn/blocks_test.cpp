// Channels that do not fill the blocks in which oneDNN's kernels leave them.
#include "nets.h"

namespace millrace::engine::onednn {
namespace {

using namespace test::onednn;  // NOLINT: the vocabulary of these tests
using network::BinaryKind;
using network::Window;

/// A convolution of few channels in each group leaves them in blocks smaller than a vector.
TEST(blocks, two_operands_and_a_function_in_small_blocks) {
  for (const std::int64_t channels : {4, 8, 12, 16, 24, 32})
    for (const BinaryKind kind : {BinaryKind::add, BinaryKind::mul}) {
      Net net;
      const std::int64_t groups = channels / 4;
      const Window window{{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
      const TensorId x =
          net.layer(network::Conv{window, groups},
                    {net.input({2, 48, 9, 9}), net.weights({channels, 48 / groups, 1, 1})},
                    {2, channels, 9, 9});
      net.output(net.relu(net.binary(kind, x, x)));
      expect_equal_to_loops(net);
    }
}

/// Where zeros fill up the last block of channels, 0 / 0 would spoil what the next layer sums.
TEST(blocks, normalisations_without_epsilon_between_convolutions) {
  for (const float epsilon : {0.f, -1e-3f})
    for (const std::int64_t channels : {1, 3, 5, 12, 20}) {
      Net net;
      const Shape factors{channels};
      const TensorId x = net.conv(net.input({1, 8, 6, 6}), channels, 1);
      const TensorId y = net.layer(network::BatchNormalization{epsilon},
                                   {x, net.weights(factors), net.weights(factors),
                                    net.weights(factors), net.constant(factors, {0.5, 2})},
                                   net.shape(x));
      net.output(net.conv(y, 8, 1));
      expect_equal_to_loops(net, 5e-5);
    }
}

}  // namespace
}  // namespace millrace::engine::onednn
