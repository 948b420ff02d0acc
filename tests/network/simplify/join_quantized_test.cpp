// Convolutions between quantised tensors become one layer that multiplies integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/random.h"
#include "network/evaluate/evaluate.h"
#include "support/compare.h"
#include "support/network_builder.h"
#include "support/onnx_model.h"

namespace millrace::network {
namespace {

using test::floats;
using test::OnnxModel;
using Names = std::vector<std::string>;

Names names_of_layers(const Network& network) {
  Names names;
  for (const Layer& layer : network.layers) names.emplace_back(name_of(layer.op));
  return names;
}

Array byte(std::uint8_t value) {
  return make_array<std::uint8_t>(DataType::uint8, {}, std::span(&value, 1));
}

struct JoinedModel {
  bool per_filter = true, relu = false;
  std::uint8_t zero = 0;  // of the result
  float bias_step = 1;    // times what it should be
  bool convolution_is_output = false;
};

/// x [2, 3, 7, 6] in uint8, convolved with 4 filters and quantised again.
OnnxModel joined_model(const JoinedModel& m) {
  Random random(3);
  OnnxModel model;
  model.input("x", {2, 3, 7, 6}).output("y");
  if (m.convolution_is_output) model.output("a");
  model.weight("xs", floats({}, {0.02f})).weight("xz", byte(100));
  model.weight("ys", floats({}, {0.05f})).weight("yz", byte(m.zero));
  model.weight("w", test::random_array(random, DataType::int8, {4, 3, 3, 3}, {-128, 128}));
  const std::vector<float> scales{0.01f, 0.02f, 0.03f, 0.005f};
  model.weight("ws", m.per_filter ? floats(scales) : floats({}, {0.01f}));
  std::vector<float> steps;
  for (const float scale : scales) steps.push_back(m.bias_step * 0.02f * scale);
  model.weight("b", test::random_array(random, DataType::int32, {4}, {-2000, 2000}));
  model.weight("bs", m.per_filter ? floats(steps) : floats({}, {m.bias_step * 0.02f * 0.01f}));
  model.node("QuantizeLinear", {"x", "xs", "xz"}, {"q"});
  model.node("DequantizeLinear", {"q", "xs", "xz"}, {"d"});
  model.node("DequantizeLinear", {"w", "ws"}, {"dw"}).set("axis", 0);
  model.node("DequantizeLinear", {"b", "bs"}, {"db"}).set("axis", 0);
  model.node("Conv", {"d", "dw", "db"}, {"a"}).set_list("pads", {1, 1, 1, 1});
  if (m.relu) model.node("Relu", {"a"}, {"r"});
  model.node("QuantizeLinear", {m.relu ? "r" : "a", "ys", "yz"}, {"y"});
  return model;
}

TEST(JoinQuantized, maxima_are_those_of_the_integers_where_the_scale_stays) {
  const auto layers = [](float scale, std::uint8_t zero) {
    OnnxModel model;
    model.input("x", {1, 2, 6, 6}).output("y");
    model.weight("xs", floats({}, {0.02f})).weight("xz", byte(100));
    model.weight("ys", floats({}, {scale})).weight("yz", byte(zero));
    model.node("QuantizeLinear", {"x", "xs", "xz"}, {"q"});
    model.node("DequantizeLinear", {"q", "xs", "xz"}, {"d"});
    model.node("MaxPool", {"d"}, {"p"}).set_list("kernel_shape", {2, 2});
    model.node("QuantizeLinear", {"p", "ys", "yz"}, {"y"});
    const Network network = model.read();
    validate(network);
    return names_of_layers(network);
  };
  EXPECT_EQ(layers(0.02f, 100), (Names{"QuantizeLinear", "MaxPool"}));
  const Names all{"QuantizeLinear", "DequantizeLinear", "MaxPool", "QuantizeLinear"};
  EXPECT_EQ(layers(0.02f, 101), all);
  EXPECT_EQ(layers(0.03f, 100), all);
}

/// A model with x, in steps of 0.02, and another tensor, concatenated in steps of `scale`.
OnnxModel concatenated_model(float scale, bool is_output) {
  OnnxModel model;
  model.input("x", {1, 2, 3, 5}).input("z", {1, 1, 3, 5}).output("y");
  if (is_output) model.output("c");
  model.weight("xs", floats({}, {0.02f})).weight("xz", byte(100));
  model.weight("ys", floats({}, {scale})).weight("yz", byte(100));
  model.node("QuantizeLinear", {"x", "xs", "xz"}, {"q"});
  model.node("DequantizeLinear", {"q", "xs", "xz"}, {"d"});
  model.node("Concat", {"d", "z", "d"}, {"c"}).set("axis", 1);
  model.node("QuantizeLinear", {"c", "ys", "yz"}, {"y"});
  return model;
}

TEST(JoinQuantized, parts_are_quantised_before_they_are_concatenated) {
  const Names same_steps{"QuantizeLinear", "QuantizeLinear", "Concat"};
  const Names other_steps{"QuantizeLinear", "DequantizeLinear", "QuantizeLinear", "QuantizeLinear",
                          "Concat"};
  for (const float scale : {0.02f, 0.05f}) {
    const Network found = concatenated_model(scale, false).read();
    validate(found);
    EXPECT_EQ(names_of_layers(found), scale == 0.02f ? same_steps : other_steps);
    const Network expected = concatenated_model(scale, true).read();
    ASSERT_EQ(names_of_layers(expected),
              (Names{"QuantizeLinear", "DequantizeLinear", "Concat", "QuantizeLinear"}));
    Random random(7);
    const auto inputs = test::random_inputs(random, found);
    const Array a = evaluate(found, inputs)[0], b = evaluate(expected, inputs)[0];
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_TRUE(std::ranges::equal(a.values<std::uint8_t>(), b.values<std::uint8_t>()));
  }
}

const Names joined{"QuantizeLinear", "QLinearConv"};

/// What float32 kernels compute differs by one step at most, and seldom.
void expect_same_as_in_float32(JoinedModel m) {
  const Network found = joined_model(m).read();
  validate(found);
  ASSERT_EQ(names_of_layers(found), joined);
  m.convolution_is_output = true;
  const Network expected = joined_model(m).read();
  ASSERT_GT(names_of_layers(expected).size(), joined.size());
  Random random(5);
  const auto inputs = test::random_inputs(random, found);
  const Array a = evaluate(found, inputs)[0], b = evaluate(expected, inputs)[0];
  ASSERT_EQ(a.shape, b.shape);
  int others = 0;
  for (std::size_t i = 0; i < a.values<std::uint8_t>().size(); ++i) {
    const int difference = std::abs(a.values<std::uint8_t>()[i] - b.values<std::uint8_t>()[i]);
    ASSERT_LE(difference, 1);
    others += difference;
  }
  EXPECT_LE(others, 3);
}

TEST(JoinedConvolutions, compute_what_float32_computes) {
  for (const bool per_filter : {false, true}) {
    expect_same_as_in_float32({per_filter, false, 120});
    expect_same_as_in_float32({per_filter, true, 0});
  }
}

TEST(JoinedConvolutions, need_a_clamp_for_relu) {
  EXPECT_EQ(names_of_layers(joined_model({true, true, 120}).read()),
            (Names{"QuantizeLinear", "DequantizeLinear", "Conv", "Relu", "QuantizeLinear"}));
}

TEST(JoinedConvolutions, need_a_bias_in_steps_of_their_sums) {
  EXPECT_EQ(names_of_layers(joined_model({true, false, 0, 1.5f}).read()),
            (Names{"QuantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear"}));
}

TEST(JoinedConvolutions, are_left_alone_where_their_numbers_are_read) {
  EXPECT_EQ(names_of_layers(joined_model({true, false, 0, 1, true}).read()),
            (Names{"QuantizeLinear", "DequantizeLinear", "Conv", "QuantizeLinear"}));
}

}  // namespace
}  // namespace millrace::network
