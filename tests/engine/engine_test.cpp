#include "engine/engine.h"

#include <gtest/gtest.h>

#include "support/network_builder.h"

namespace millrace::engine {
namespace {

using network::BinaryKind;
using network::UnaryKind;

/// x -> relu a -> tanh b -> a + b; the outputs are a and the sum.
network::Network diamond() {
  test::NetworkBuilder builder;
  const TensorId a = builder.unary(UnaryKind::relu, builder.input({2, 3}));
  const TensorId b = builder.unary(UnaryKind::tanh, a);
  builder.output(a);
  builder.output(builder.binary(BinaryKind::add, a, b));
  return builder.build();
}

using Ids = std::vector<TensorId>;

TEST(PlainLayout, is_dense) {
  const network::Tensor tensor{"x", network::DataType::float16, {2, 3, 5}, {}};
  EXPECT_EQ(plain_layout(tensor), (Layout{"plain", Bytes{60}}));
}

TEST(BorderOf, a_layer_in_the_middle_has_what_it_reads_and_what_is_read_of_it) {
  const network::Network network = diamond();
  const Border border = border_of(network, std::vector{LayerId(1)});
  EXPECT_EQ(border.inputs, Ids{network.layers[0].outputs[0]});
  EXPECT_EQ(border.outputs, Ids{network.layers[1].outputs[0]});
}

TEST(BorderOf, a_tensor_that_is_an_output_and_read_inside_is_needed_outside) {
  const network::Network network = diamond();
  const Border border = border_of(network, std::vector{LayerId(0), LayerId(1), LayerId(2)});
  EXPECT_EQ(border.inputs, network.inputs);
  EXPECT_EQ(border.outputs, network.outputs);
}

TEST(BorderOf, a_subnet_with_a_gap_reads_what_it_made_before_the_gap_only_outside_of_it) {
  const network::Network network = diamond();
  const Border border = border_of(network, std::vector{LayerId(0), LayerId(2)});
  EXPECT_EQ(border.inputs, (Ids{network.inputs[0], network.layers[1].outputs[0]}));
  EXPECT_EQ(border.outputs, network.outputs);
}

TEST(BorderOf, an_input_that_is_read_twice_is_there_once) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({4});
  builder.output(builder.binary(BinaryKind::mul, x, x));
  builder.output(builder.unary(UnaryKind::relu, x));
  const network::Network network = builder.build();
  EXPECT_EQ(border_of(network, std::vector{LayerId(0), LayerId(1)}).inputs, Ids{x});
}

TEST(BorderOf, constants_and_outputs_nobody_reads_stay_inside) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 4, 2, 2});
  const auto parts = builder.split(1, x, {1, 3});
  builder.output(builder.binary(BinaryKind::add, parts[1], builder.constant({3, 1, 1})));
  const network::Network network = builder.build();
  EXPECT_EQ(border_of(network, std::vector{LayerId(0)}).outputs, Ids{parts[1]});
  EXPECT_EQ(border_of(network, std::vector{LayerId(1)}).inputs, Ids{parts[1]});
}

TEST(WholeNetwork, is_plain_at_both_ends) {
  const network::Network network = diamond();
  const SubnetRequest request = whole_network(network, {"core0", {}, {0}});
  EXPECT_EQ(request.layers.size(), 3u);
  ASSERT_EQ(request.inputs.size(), 1u);
  EXPECT_EQ(request.inputs[0].layout, plain_layout(network[network.inputs[0]]));
  EXPECT_EQ(request.plain, (std::vector<bool>{true, true}));
}

}  // namespace
}  // namespace millrace::engine
