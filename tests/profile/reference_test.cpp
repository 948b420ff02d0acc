// Single outputs against the plain loops, which sum in float32.
#include "profile/reference.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/network_builder.h"

namespace millrace::profile {
namespace {

using millrace::test::NetworkBuilder;
using millrace::test::window;

/// All outputs of the network's only layer.
void expect_as_evaluated(const network::Network& network) {
  Random random(3);
  const auto inputs = millrace::test::random_inputs(random, network);
  const auto expected = network::evaluate(network, inputs).at(0);
  const network::Layer& layer = network.layers.at(0);
  std::vector<network::ConstView> views;
  for (const TensorId input : layer.inputs) {
    if (!input.valid()) {
      views.emplace_back();
      continue;
    }
    const network::Tensor& tensor = network[input];
    const auto at = std::find(network.inputs.begin(), network.inputs.end(), input);
    const network::Array& array =
        tensor.constant ? *tensor.constant
                        : inputs[static_cast<std::size_t>(at - network.inputs.begin())];
    views.push_back({tensor.type, tensor.shape, array.bytes().data()});
  }
  std::vector<std::size_t> places(expected.values<float>().size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto found = reference_at(layer, views, expected.shape, places);
  ASSERT_EQ(found.size(), places.size());
  for (const std::size_t i : places)
    EXPECT_NEAR(found[i], static_cast<double>(expected.values<float>()[i]), 1e-4) << i;
}

TEST(Reference, convolutions_with_groups_strides_dilations_and_padding) {
  const std::vector<std::pair<network::Window, std::int64_t>> cases{
      {window(3, {.pad = 1}), 1},
      {window(3, {.stride = 2, .pad = 1}), 6},
      {window(3, {.pad = 2, .dilation = 2}), 2},
      {window(1), 1}};
  for (const auto& [geometry, groups] : cases) {
    NetworkBuilder builder;
    builder.output(builder.conv(builder.input({2, 6, 9, 7}), 12, geometry, groups));
    expect_as_evaluated(builder.build());
  }
}

TEST(Reference, products_transposed_and_with_addends_of_any_shape) {
  for (const bool transpose_b : {false, true})
    for (const network::Shape& addend : {network::Shape{5}, {4, 1}, {1}, {4, 5}}) {
      NetworkBuilder builder;
      const TensorId x = builder.input({7, 4});
      const TensorId w =
          builder.constant(transpose_b ? network::Shape{5, 7} : network::Shape{7, 5});
      const TensorId c = builder.constant(addend);
      builder.output(builder.layer(network::Gemm{true, transpose_b, 0.5f, 2.f}, {x, w, c}, {4, 5}));
      expect_as_evaluated(builder.build());
    }
  for (const network::Shape& stack : {network::Shape{}, {2}, {4, 2}}) {
    network::Shape in = stack, out = stack;
    in.insert(in.end(), {3, 7});
    out.insert(out.end(), {3, 2});
    NetworkBuilder builder;
    const TensorId x = builder.input(in);
    builder.output(builder.layer(network::MatMul{}, {x, builder.constant({7, 2})}, out));
    expect_as_evaluated(builder.build());
  }
}

TEST(Reference, other_layers_have_none) {
  NetworkBuilder builder;
  const TensorId x = builder.input({1, 4});
  builder.output(builder.unary(network::UnaryKind::relu, x));
  const network::Network network = builder.build();
  const std::vector<float> values(4);
  const std::vector<network::ConstView> views{{network::DataType::float32, network[x].shape,
                                               reinterpret_cast<const std::byte*>(values.data())}};
  const std::vector<std::size_t> places{0};
  EXPECT_TRUE(reference_at(network.layers[0], views, {1, 4}, places).empty());
}

}  // namespace
}  // namespace millrace::profile
