// Whole networks, and what evaluate refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"

namespace millrace::network {
namespace {

std::string message_of(const Network& network, const std::vector<Array>& inputs) {
  try {
    evaluate(network, inputs);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(EvaluateNetwork, outputs_may_be_inputs_and_constants_and_are_read_by_layers_too) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({3}), c = builder.constant(Shape{3});
  const TensorId sum = builder.binary(BinaryKind::add, x, c);
  builder.unary(UnaryKind::relu, sum);
  for (const TensorId id : {x, c, sum}) builder.output(id);
  const Network network = builder.build();
  Random random(1);
  const std::vector<Array> inputs = test::random_inputs(random, network);
  const std::vector<Array> outputs = evaluate(network, inputs);
  ASSERT_EQ(outputs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(outputs[2].values<float>()[i],
              outputs[0].values<float>()[i] + outputs[1].values<float>()[i]);
}

TEST(EvaluateNetwork, wrong_inputs_are_answered_with_what_was_expected) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(UnaryKind::relu, builder.input({2, 3})));
  const Network network = builder.build();
  Random random(1);
  EXPECT_EQ(message_of(network, {}), "built: 0 inputs were given, the network has 1");
  EXPECT_EQ(message_of(network, {test::random_array(random, DataType::float32, {3, 2})}),
            "tensor0: the input is float32 3x2, the network expects float32 2x3");
  EXPECT_EQ(message_of(network, {test::random_array(random, DataType::int8, {2, 3})}),
            "tensor0: the input is int8 2x3, the network expects float32 2x3");
}

std::string reason(const Network& network) { return can_evaluate(network, LayerId(0)).reason(); }

TEST(CanEvaluate, refuses_types_with_operator_and_type) {
  test::NetworkBuilder conv;
  const TensorId x = conv.input({1, 1, 3, 3}, DataType::int8);
  const TensorId w = conv.input({1, 1, 1, 1}, DataType::int8);
  conv.layer(Conv{test::window(1), 1}, {x, w}, {1, 1, 3, 3});
  EXPECT_EQ(reason(conv.build()), "Conv of int8, int8 is not supported");

  test::NetworkBuilder mixed;
  const TensorId a = mixed.input({2}), b = mixed.input({2}, DataType::int64);
  mixed.binary(BinaryKind::add, a, b);
  mixed.binary(BinaryKind::pow, a, b);
  const Network network = mixed.build();
  EXPECT_EQ(reason(network), "Add of float32, int64 is not supported");
  EXPECT_TRUE(can_evaluate(network, LayerId(1)));
}

TEST(CanEvaluate, refuses_windows_over_four_dimensions) {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 1, 2, 2, 2, 2});
  builder.pool({PoolKind::max, test::window(2, {.dimensions = 4})}, x);
  EXPECT_EQ(reason(builder.build()),
            "MaxPool over 4 spatial dimensions is not supported; 1 to 3 are");
}

}  // namespace
}  // namespace millrace::network
