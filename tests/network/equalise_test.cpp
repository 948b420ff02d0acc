#include "network/quantized/equalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

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

/// How many channels were changed.
std::size_t expect_same_outputs(Random& random, const Network& network) {
  const Equalised equalised = equalise(network);
  validate(equalised.network);
  const std::vector<Array> inputs = test::random_inputs(random, network);
  EXPECT_EQ(bytes_of(equalised.network, inputs), bytes_of(network, inputs));
  return equalised.channels;
}

/// The weights of a filter times 2 to `unlike` times its position.
TensorId uneven(NetworkBuilder& builder, const Shape& shape, double unlike, bool by_input) {
  Array weights = [&] {
    Random random(3);
    return test::random_array(random, DataType::float32, shape);
  }();
  std::vector<float> values(weights.values<float>().begin(), weights.values<float>().end());
  const auto filters = static_cast<std::size_t>(shape[0]),
             inputs = static_cast<std::size_t>(shape[1]);
  const std::size_t kernel = values.size() / filters / inputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t filter = i / kernel / inputs, input = i / kernel % inputs;
    values[i] *=
        static_cast<float>(std::exp2(unlike * static_cast<double>(by_input ? input : filter)));
  }
  return builder.constant(make_array<float>(DataType::float32, shape, values));
}

/// The largest weight of each filter.
std::vector<float> largest_by_filter(const Network& network, const Layer& layer) {
  const Tensor& weight = network[layer.inputs[1]];
  const auto values = weight.constant->values<float>();
  std::vector<float> largest(static_cast<std::size_t>(weight.shape[0]));
  const std::size_t each = values.size() / largest.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    largest[i / each] = std::max(largest[i / each], std::abs(values[i]));
  return largest;
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

/// Two convolutions with `between` in the middle; the filters of the first are 32 times apart.
template <class Between>
Network between_uneven(Between between) {
  NetworkBuilder builder;
  const TensorId x = builder.input({1, 3, 8, 8});
  const TensorId w = uneven(builder, {6, 3, 1, 1}, 1, false);
  const TensorId a = builder.layer(Conv{test::window(1), 1}, {x, w}, {1, 6, 8, 8});
  const TensorId b = between(builder, a);
  const Shape shape = builder.shape(b);
  const TensorId v = uneven(builder, {4, shape[1], 1, 1}, -1, true);
  builder.output(builder.layer(Conv{test::window(1), 1}, {b, v}, {1, 4, shape[2], shape[3]}));
  return builder.build();
}

float unevenness(const Network& network) {
  const std::vector<float> largest = largest_by_filter(network, network.layers[0]);
  const auto [low, high] = std::ranges::minmax(largest);
  return high / low;
}

TEST(Equalise, channels_become_about_equally_large) {
  for (const bool pooled : {false, true}) {
    const Network network = between_uneven([&](NetworkBuilder& builder, TensorId a) {
      const TensorId b = builder.unary(UnaryKind::relu, a);
      return pooled ? builder.pool({PoolKind::max, test::window(2, {.stride = 2})}, b) : b;
    });
    EXPECT_GT(unevenness(network), 16);
    const Equalised equalised = equalise(network);
    EXPECT_LT(unevenness(equalised.network), 4);
    EXPECT_GE(equalised.channels, 8u);  // before and behind the Relu
    Random random(1);
    expect_same_outputs(random, network);
  }
}

TEST(Equalise, follows_a_depthwise_convolution_and_a_concatenation) {
  const Network network = between_uneven([&](NetworkBuilder& builder, TensorId a) {
    const TensorId b =
        builder.conv(builder.unary(UnaryKind::relu, a), 6, test::window(3, {.pad = 1}), 6);
    return builder.concat(1, {b, builder.unary(UnaryKind::leaky_relu, b, 0.1)});
  });
  EXPECT_LT(unevenness(equalise(network).network), 8);
  Random random(1);
  EXPECT_GT(expect_same_outputs(random, network), 0u);
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
  for (std::size_t i = 0; i < fixing.size(); ++i)
    EXPECT_EQ(equalise(between_uneven(fixing[i])).channels, 0u) << i;
}

}  // namespace
}  // namespace millrace::network
