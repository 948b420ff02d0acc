// Half-precision networks become float32 inside; quantised weights stay known as such.
#include <gtest/gtest.h>

#include <cmath>

#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"
#include "support/compare.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::floats;
using test::OnnxModel;

std::vector<std::string> kinds_of(const Network& network) {
  std::vector<std::string> kinds;
  for (const Layer& layer : network.layers) kinds.emplace_back(name_of(layer.op));
  return kinds;
}

using Kinds = std::vector<std::string>;

/// cos(0), cos(1), ... times a factor.
Array wave(const Shape& shape, float factor = 1) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = factor * std::cos(static_cast<float>(i));
  return floats(shape, values);
}

/// A small classifier with weights and borders of this type.
OnnxModel classifier(DataType type) {
  const auto constant = [&](const Array& array) { return converted(array, type); };
  OnnxModel model(13);
  model.input("x", {1, 3, 6, 6}, type).output("y");
  model.weight("w", constant(wave({4, 3, 3, 3})));
  for (const char* name : {"scale", "bias", "mean"}) model.weight(name, constant(wave({4})));
  model.weight("variance", constant(floats({1, 2, 3, 4})));
  model.weight("low", constant(floats({}, {-1}))).weight("high", constant(floats({}, {1.5f})));
  model.node("Conv", {"x", "w"}, {"a"});
  model.node("BatchNormalization", {"a", "scale", "bias", "mean", "variance"}, {"b"});
  model.node("Clip", {"b", "low", "high"}, {"c"});
  model.node("GlobalAveragePool", {"c"}, {"y"}).named("x.cast");
  return model;
}

TEST(WidenHalf, computes_in_single_precision_between_the_borders) {
  const Network half = classifier(DataType::float16).read();
  const Network single = classifier(DataType::float32).read();
  validate(half);
  EXPECT_EQ(kinds_of(half), (Kinds{"Cast", "Conv", "Clip", "AveragePool", "Cast"}));
  EXPECT_EQ(half[half.inputs[0]].type, DataType::float16);
  EXPECT_EQ(half[half.outputs[0]].type, DataType::float16);
  EXPECT_EQ(half[half.inputs[0]].name, "x");
  EXPECT_EQ(half[half.outputs[0]].name, "y");
  for (const Layer& layer : half.layers) {
    if (std::holds_alternative<Cast>(layer.op)) continue;
    for (const TensorId id : layer.inputs) EXPECT_EQ(half[id].type, DataType::float32);
  }
  const Array x = converted(wave({1, 3, 6, 6}), DataType::float16);
  const auto found = evaluate(half, std::vector{x});
  const auto expected = evaluate(single, std::vector{converted(x, DataType::float32)});
  EXPECT_LT(test::relative_error(found[0], expected[0]), 1e-3);
}

TEST(WidenHalf, leaves_no_casts_between_the_two_types) {
  OnnxModel model;
  model.input("x", {2, 3}).weight("w", converted(wave({3}), DataType::float16)).output("y");
  model.node("Cast", {"x"}, {"a"}).set("to", 10);
  model.node("Mul", {"a", "w"}, {"b"});
  model.node("Cast", {"b"}, {"c"}).set("to", 1);
  model.node("Relu", {"c"}, {"y"});
  const Network network = model.read();
  EXPECT_EQ(kinds_of(network), (Kinds{"Mul", "Relu"}));
  EXPECT_EQ(network[network.outputs[0]].type, DataType::float32);
}

TEST(WidenHalf, keeps_what_is_at_the_border_as_the_file_has_it) {
  OnnxModel model;
  model.input("x", {3}, DataType::float16).output("w").output("a").output("y");
  model.weight("w", converted(wave({3}), DataType::float16));
  model.node("Mul", {"x", "w"}, {"a"});
  model.node("Exp", {"a"}, {"y"});
  const Network network = model.read();
  validate(network);
  for (const TensorId id : network.outputs) EXPECT_EQ(network[id].type, DataType::float16);
  const Array x = converted(floats({1, 2, 3}), DataType::float16);
  const auto outputs = evaluate(network, std::vector{x});
  const Array y = converted(outputs[2], DataType::float32);
  for (std::size_t i = 0; i < 3; ++i) {
    const float factor = converted(outputs[0], DataType::float32).values<float>()[i];
    const float expected = std::exp(static_cast<float>(i + 1) * factor);
    EXPECT_NEAR(y.values<float>()[i], expected, 1e-3f * expected);
  }
}

Array bytes(const Shape& shape) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(37 * i);
  return make_array<std::int8_t>(DataType::int8, shape, values);
}

/// Expects that the constant is what its integers stand for.
void expect_consistent(const Tensor& tensor) {
  ASSERT_TRUE(tensor.quantized) << tensor.name;
  const Quantized& q = *tensor.quantized;
  Network network;
  const auto add = [&](const Array& array) {
    network.tensors.push_back({"", array.type, array.shape, array});
    return TensorId(network.tensors.size() - 1);
  };
  Layer layer{"dequantised", DequantizeLinear{q.scaling}, {add(q.values), add(q.scale)}, {}};
  if (q.zero_point) layer.inputs.push_back(add(*q.zero_point));
  network.tensors.push_back({"y", DataType::float32, tensor.shape, std::nullopt});
  network.outputs = layer.outputs = {TensorId(network.tensors.size() - 1)};
  network.layers.push_back(layer);
  EXPECT_LT(test::relative_error(evaluate(network, {})[0], *tensor.constant), 1e-6) << tensor.name;
}

/// x, quantised and dequantised, is "d".
OnnxModel quantised_input(const Shape& shape) {
  OnnxModel model;
  model.input("x", shape).weight("s", floats({0.5f})).output("y");
  model.node("QuantizeLinear", {"x", "s"}, {"q"});
  model.node("DequantizeLinear", {"q", "s"}, {"d"});
  return model;
}

TEST(QuantisedWeights, become_constants_that_know_their_integers) {
  OnnxModel model = quantised_input({1, 3, 6, 6});
  model.weight("w", bytes({4, 3, 3, 3})).weight("ws", floats({1, 2, 3, 4}));
  model.weight("wz", bytes({4}));
  model.node("DequantizeLinear", {"w", "ws", "wz"}, {"dw"}).set("axis", 0);
  model.node("Conv", {"d", "dw"}, {"y"});
  const Network network = model.read();
  EXPECT_EQ(kinds_of(network), (Kinds{"QuantizeLinear", "DequantizeLinear", "Conv"}));
  const Tensor& weight = network[network.layers[2].inputs[1]];
  expect_consistent(weight);
  const Array values = bytes({4, 3, 3, 3});
  EXPECT_TRUE(std::ranges::equal(weight.quantized->values.bytes(), values.bytes()));
  EXPECT_EQ(weight.quantized->scaling.axis, 0);
  EXPECT_TRUE(weight.quantized->zero_point);

  Network plain = network;
  for (Tensor& tensor : plain.tensors) tensor.quantized.reset();
  EXPECT_NE(hash_of(plain), hash_of(network));
}

TEST(QuantisedWeights, stay_known_when_they_are_transposed_or_reshaped) {
  for (const bool per_column : {false, true}) {
    OnnxModel model = quantised_input({2, 3});
    model.weight("w", bytes({5, 3})).integers("shape", {3, 5});
    model.weight("ws", per_column ? floats({1, 2, 3, 4, 5}) : floats({2}));
    model.node("DequantizeLinear", {"w", "ws"}, {"dw"}).set("axis", 0);
    model.node("Transpose", {"dw"}, {"t"}).set_list("perm", {1, 0});
    model.node("Reshape", {"t", "shape"}, {"r"});
    model.node("MatMul", {"d", per_column ? "t" : "r"}, {"y"});
    const Network network = model.read();
    ASSERT_EQ(network.layers.size(), 3u);
    expect_consistent(network[network.layers[2].inputs[1]]);
  }
}

TEST(QuantisedWeights, take_a_scale_per_channel_from_a_normalization) {
  for (const bool per_channel : {false, true}) {
    OnnxModel model = quantised_input({2, 3});
    model.weight("w", bytes({3, 4})).weight("wz", bytes(per_channel ? Shape{4} : Shape{1}));
    model.weight("ws", per_channel ? floats({1, 2, 3, 4}) : floats({2}));
    model.node("DequantizeLinear", {"w", "ws", "wz"}, {"dw"}).set("axis", 1);
    model.node("Gemm", {"d", "dw"}, {"a"});
    model.weight("factor", wave({4})).node("Mul", {"a", "factor"}, {"y"});
    const Network network = model.read();
    ASSERT_EQ(kinds_of(network), (Kinds{"QuantizeLinear", "DequantizeLinear", "Gemm"}));
    expect_consistent(network[network.layers[2].inputs[1]]);
  }
}

TEST(QuantisedWeights, of_half_precision_become_single) {
  OnnxModel model(19);
  model.input("x", {2, 3}, DataType::float16).output("y");
  model.weight("w", bytes({3, 4})).weight("ws", converted(floats({0.5f}), DataType::float16));
  model.node("DequantizeLinear", {"w", "ws"}, {"dw"});
  model.node("MatMul", {"x", "dw"}, {"y"});
  const Network network = model.read();
  ASSERT_EQ(kinds_of(network), (Kinds{"Cast", "MatMul", "Cast"}));
  expect_consistent(network[network.layers[1].inputs[1]]);
}

}  // namespace
}  // namespace millrace::network
