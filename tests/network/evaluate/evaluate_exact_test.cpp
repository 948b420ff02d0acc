#include "network/evaluate/exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "network/evaluate/evaluate.h"
#include "network/evaluate/nan_layer.h"
#include "support/network_builder.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::floats;
using test::NetworkBuilder;

double first_of(const std::vector<Array>& outputs) { return outputs.at(0).values<double>()[0]; }

TEST(EvaluateInFloat64, loses_no_digits_that_float32_loses) {
  NetworkBuilder builder;
  const TensorId x = builder.input({1, 3});
  const TensorId ones = builder.constant({3, 1}, {1, 1});
  builder.output(builder.layer(MatMul{}, {x, ones}, {1, 1}));
  const Network network = builder.build();
  const std::vector<Array> inputs{floats({1, 3}, {1e9f, 1.5f, -1e9f})};
  EXPECT_EQ(evaluate(network, inputs).at(0).values<float>()[0], 0);
  EXPECT_EQ(first_of(evaluate_in_float64(network, inputs)), 1.5);
}

TEST(EvaluateInFloat64, computes_functions_to_the_last_digits) {
  NetworkBuilder builder;
  builder.output(builder.unary(UnaryKind::exp, builder.input({1})));
  const auto outputs = evaluate_in_float64(builder.build(), std::vector{floats({1})});
  EXPECT_NEAR(first_of(outputs), std::numbers::e, 1e-15);
}

/// Integers are rounded in float32, between layers in float64.
TEST(EvaluateInFloat64, runs_layers_that_have_no_loops_in_it) {
  test::OnnxModel model;
  model.input("x", {4}).output("y");
  model.weight("scale", floats(Shape{}, {0.5f}));
  model.node("Exp", {"x"}, {"e"});
  model.node("QuantizeLinear", {"e", "scale"}, {"q"});
  model.node("DequantizeLinear", {"q", "scale"}, {"d"});
  model.node("Neg", {"d"}, {"y"});
  const auto outputs = evaluate_in_float64(model.read(), std::vector{floats({0, 1, 2, 3})});
  ASSERT_EQ(outputs.at(0).type, DataType::float64);
  const auto values = outputs[0].values<double>();
  EXPECT_EQ(std::vector(values.begin(), values.end()), (std::vector<double>{-1, -2.5, -7.5, -20}));
}

TEST(EvaluateInFloat64, rounds_by_chance_as_far_as_float32_does) {
  NetworkBuilder builder;
  const TensorId x = builder.input({1, 512});
  builder.output(builder.unary(UnaryKind::neg, x));
  builder.output(builder.unary(UnaryKind::sigmoid, x));
  const Network network = builder.build();
  Random random(3);
  const std::vector<Array> inputs{
      test::random_array(random, DataType::float32, {1, 512}, {-20, -10})};
  const auto exact = evaluate_in_float64(network, inputs);
  const auto rounded = evaluate_in_float64(network, inputs, 1);
  double negated = 0, logistic = 0;
  for (std::size_t i = 0; i < 512; ++i) {
    const double value = exact[0].values<double>()[i];
    negated = std::max(negated, std::abs(rounded[0].values<double>()[i] / value - 1));
    logistic = std::max(logistic, std::abs(rounded[1].values<double>()[i] -
                                           exact[1].values<double>()[i]));
  }
  EXPECT_LE(negated, 0x1p-24);
  EXPECT_GE(negated, 0x1p-25);
  EXPECT_LE(logistic, 0x1p-24);  // of 1, to which formulas add such small numbers
  EXPECT_GE(logistic, 0x1p-25);
}

TEST(NanLayer, is_the_first_that_makes_nan_of_numbers) {
  NetworkBuilder builder;
  TensorId x = builder.unary(UnaryKind::neg, builder.input({2}));
  x = builder.unary(UnaryKind::log, x);
  x = builder.unary(UnaryKind::relu, x);
  builder.output(x);
  const Network network = builder.build();
  using Frames = std::vector<std::vector<Array>>;
  const Array good = floats({-1, -2}), bad = floats({-1, 2}), given = floats({-1, std::nanf("")});
  EXPECT_EQ(nan_layer_of(network, Frames{{good}}), "");
  EXPECT_EQ(nan_layer_of(network, Frames{{good}, {bad}}), network.layers[1].name);
  EXPECT_EQ(nan_layer_of(network, Frames{{given}}), "");
}

}  // namespace
}  // namespace millrace::network
