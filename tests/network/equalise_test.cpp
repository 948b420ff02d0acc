#include "network/simplify/quantized/equalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"
#include "support/varied_network.h"

namespace millrace::network {
namespace {

using test::NetworkBuilder;

std::vector<std::vector<std::byte>> bytes_of(const Network& network,
                                             const std::vector<Array>& inputs) {
  std::vector<std::vector<std::byte>> result;
  for (const Array& output : evaluate(network, inputs))
    result.emplace_back(output.bytes().begin(), output.bytes().end());
  return result;
}

/// Sizes for all tensors with channels, from 0.01 to 100.
ChannelSizes random_sizes(Random& random, const Network& network) {
  ChannelSizes sizes;
  for (const Tensor& tensor : network.tensors)
    if (tensor.shape.size() >= 2)
      for (std::int64_t c = 0; c < tensor.shape[1]; ++c)
        sizes[tensor.name].push_back(std::exp2(random.uniform(-6.6f, 6.6f)));
  return sizes;
}

/// How many channels were changed.
std::size_t expect_same_outputs(Random& random, const Network& network) {
  const Equalised equalised = equalise(network, random_sizes(random, network));
  validate(equalised.network);
  const std::vector<Array> inputs = test::random_inputs(random, network);
  EXPECT_EQ(bytes_of(equalised.network, inputs), bytes_of(network, inputs));
  return equalised.channels;
}

TEST(Equalise, outputs_of_random_networks_stay_the_same_bit_for_bit) {
  Random random(5);
  std::size_t changed = 0;
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    changed += expect_same_outputs(random, test::random_network(random, 20));
    changed += expect_same_outputs(random, test::varied_network(random, 20));
    if (HasFailure()) return;
  }
  EXPECT_GT(changed, 1000u);
}

TEST(Equalise, outputs_stay_the_same_with_groups_and_matrices_of_any_form) {
  NetworkBuilder b;
  const TensorId x = b.input({1, 4, 6, 6});
  const TensorId a = b.unary(UnaryKind::relu, b.conv(x, 8, test::window(3, {.pad = 1}), 2));
  const TensorId w = b.constant({8, 3, 2, 2});  // two groups: 8 channels to 6
  const TensorId up =
      b.layer(ConvTranspose{test::window(2, {.stride = 2}), 2}, {a, w}, {1, 6, 12, 12});
  const TensorId c = b.unary(UnaryKind::leaky_relu, up, 0.25);
  const TensorId shared = b.constant({6, 6, 1, 1});  // of a layer that scales and one that cannot
  const TensorId d = b.layer(Conv{test::window(1), 1}, {c, shared}, {1, 6, 12, 12});
  const TensorId e =
      b.layer(Conv{test::window(1), 1}, {b.unary(UnaryKind::sigmoid, d), shared}, {1, 6, 12, 12});
  const TensorId sum = b.binary(BinaryKind::add, b.unary(UnaryKind::relu, d), e);
  const TensorId rows =
      b.layer(Reshape{}, {b.pool({PoolKind::average, test::window(12)}, sum)}, {1, 6});
  const TensorId first =
      b.layer(Gemm{false, true, 0.5f, 0.75f}, {rows, b.constant({5, 6}), b.constant({1})}, {1, 5});
  const TensorId second = b.unary(UnaryKind::relu, first);
  b.output(
      b.layer(Gemm{false, false, 2, 3}, {second, b.constant({5, 4}), b.constant({1, 4})}, {1, 4}));
  Random random(9);
  for (int i = 0; i < 20; ++i) EXPECT_GT(expect_same_outputs(random, b.build()), 20u);
}

/// A convolution with four filters over six channels, behind `between`, behind another.
template <class Between>
Network with_two_convolutions(Between between) {
  NetworkBuilder builder;
  const TensorId x = builder.input({1, 3, 8, 8});
  const TensorId a = builder.conv(x, 6, test::window(1));
  builder.output(builder.conv(between(builder, a), 4, test::window(1)));
  return builder.build();
}

/// The tensor that the last layer reads, with channels that are twice as large one after the other.
ChannelSizes unlike_sizes(const Network& network) {
  const Tensor& tensor = network[network.layers.back().inputs[0]];
  ChannelSizes sizes;
  for (std::int64_t c = 0; c < tensor.shape[1]; ++c)
    sizes[tensor.name].push_back(std::exp2(static_cast<float>(c)));
  return sizes;
}

std::span<const float> weights_of(const Network& network, std::size_t layer) {
  return network[network.layers[layer].inputs[1]].constant->values<float>();
}

TEST(Equalise, divides_a_channel_by_the_root_of_its_size_over_that_of_its_weights) {
  for (const bool pooled : {false, true}) {
    const Network network = with_two_convolutions([&](NetworkBuilder& builder, TensorId a) {
      const TensorId b = builder.unary(UnaryKind::relu, a);
      return pooled ? builder.pool({PoolKind::max, test::window(2, {.stride = 2})}, b) : b;
    });
    const Network equalised = equalise(network, unlike_sizes(network)).network;
    const std::size_t last = network.layers.size() - 1;
    for (std::size_t c = 0; c < 6; ++c) {
      float largest = 0;
      for (std::size_t filter = 0; filter < 4; ++filter)
        largest = std::max(largest, std::abs(weights_of(network, last)[filter * 6 + c]));
      const double exact = (static_cast<double>(c) - std::log2(largest)) / 2;
      const float factor = std::exp2(static_cast<float>(std::round(exact)));
      for (std::size_t filter = 0; filter < 4; ++filter)
        EXPECT_EQ(weights_of(equalised, last)[filter * 6 + c],
                  weights_of(network, last)[filter * 6 + c] * factor);
      for (std::size_t input = 0; input < 3; ++input)
        EXPECT_EQ(weights_of(equalised, 0)[c * 3 + input],
                  weights_of(network, 0)[c * 3 + input] / factor);
    }
  }
}

TEST(Equalise, takes_no_heed_of_weights_that_have_a_scale_for_the_channel) {
  const Network network = with_two_convolutions([](NetworkBuilder& builder, TensorId a) {
    return builder.conv(builder.unary(UnaryKind::relu, a), 6, test::window(3, {.pad = 1}), 6);
  });
  const std::string read = network[network.layers[2].inputs[0]].name;
  const Network equalised = equalise(network, {{read, {1, 2, 4, 8, 16, 64}}}).network;
  const float factors[]{1, 2, 4, 8, 16, 64};
  for (std::size_t c = 0; c < 6; ++c)
    for (std::size_t k = 0; k < 9; ++k)
      EXPECT_EQ(weights_of(equalised, 2)[c * 9 + k],
                weights_of(network, 2)[c * 9 + k] * factors[c]);
}

TEST(Equalise, what_does_not_pass_factors_on_keeps_its_channels) {
  const std::vector<std::function<TensorId(NetworkBuilder&, TensorId)>> fixing{
      [](auto& b, TensorId a) { return b.unary(UnaryKind::sigmoid, a); },
      [](auto& b, TensorId a) { return b.unary(UnaryKind::clip, a, 0, 6); },
      [](auto& b, TensorId a) {
        return b.binary(BinaryKind::add, a, b.constant({6, 1, 1}));
      },
      [](auto& b, TensorId a) { return b.binary(BinaryKind::mul, a, a); },
      [](auto& b, TensorId a) {
        return b.layer(Pad{PadMode::constant, {0, 0, 1, 1}, {0, 0, 1, 1}, 1}, {a}, {1, 6, 10, 10});
      },
      [](auto& b, TensorId a) {
        b.output(a);
        return b.unary(UnaryKind::relu, a);
      }};
  for (std::size_t i = 0; i < fixing.size(); ++i) {
    const Network network = with_two_convolutions(fixing[i]);
    EXPECT_EQ(equalise(network, unlike_sizes(network)).channels, 0u) << i;
  }
  const Network network = with_two_convolutions(
      [](NetworkBuilder& b, TensorId a) { return b.unary(UnaryKind::relu, a); });
  EXPECT_EQ(equalise(network, {}).channels, 0u);
}

}  // namespace
}  // namespace millrace::network
