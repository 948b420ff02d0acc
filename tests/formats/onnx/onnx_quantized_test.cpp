// Quantised operators in files: what becomes of good ones, and what is said about wrong ones.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "formats/onnx/wrong.h"
#include "formats/read.h"
#include "support/message_of.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::name_of_case;
using test::OnnxModel;
using test::Wrong;

OnnxModel quantize(const Array& scale, const Array& zero,
                   const std::function<void(test::OnnxNode&)>& change) {
  OnnxModel model(21);
  model.input("x", {2, 3, 4}).weight("s", scale).weight("z", zero).output("y");
  auto node = model.node("QuantizeLinear", {"x", "s", "z"}, {"y"}).named("q");
  change(node);
  return model;
}

OnnxModel dequantize(DataType type, DataType zero) {
  OnnxModel model;
  model.input("x", {2, 3}, type).weight("s", floats({0.5f})).output("y");
  model.weight("z", make_array(zero, {1}, Buffer(size_of(zero))));
  model.node("DequantizeLinear", {"x", "s", "z"}, {"y"}).named("d");
  return model;
}

/// QLinearConv over 3 channels with 4 filters; one input is another than it should be.
OnnxModel q_linear_conv(const std::string& input, const Array& value) {
  const std::map<std::string, Array> right{
      {"xs", floats({0.5f})},
      {"xz", make_array(DataType::uint8, {}, Buffer(Bytes{1}))},
      {"w", make_array(DataType::int8, {4, 3, 1, 1}, Buffer(Bytes{12}))},
      {"ws", floats({1, 2, 3, 4})},
      {"wz", make_array(DataType::int8, {}, Buffer(Bytes{1}))},
      {"ys", floats({0.25f})},
      {"yz", make_array(DataType::uint8, {}, Buffer(Bytes{1}))},
      {"b", make_array(DataType::int32, {4}, Buffer(Bytes{16}))}};
  OnnxModel model;
  model.input("x", {1, 3, 5, 5}, DataType::uint8).output("y");
  for (const auto& [name, array] : right) model.weight(name, name == input ? value : array);
  model.node("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"}, {"y"}).named("c");
  return model;
}

Array zero_point(const Shape& shape, DataType type = DataType::uint8) {
  return make_array(type, shape, Buffer(size_of(type) * element_count(shape)));
}

std::vector<Wrong> wrong_quantisations() {
  const auto as_it_is = [](test::OnnxNode&) {};
  return {
      {"scale_of_another_axis",
       [=] {
         return quantize(floats({1, 2, 3, 4}), zero_point({4}), as_it_is);
       },
       {"node 'q'", "scale 's' has shape 4", "expected 3", "axis 1"}},
      {"zero_points_of_another_shape",
       [=] {
         return quantize(floats({1, 2, 3}), zero_point({2}), as_it_is);
       },
       {"zero point 'z' has shape 2", "expected 3 like the scale"}},
      {"blocks_of_another_size",
       [=] {
         return quantize(floats({2, 2, 4}, std::vector<float>(16)), zero_point({2, 2, 4}),
                         [](auto& n) { n.set("block_size", 3); });
       },
       {"scale 's' has shape 2x2x4", "expected 2x1x4"}},
      {"negative_block",
       [=] {
         return quantize(floats({1}), zero_point({1}), [](auto& n) { n.set("block_size", -1); });
       },
       {"'block_size' is -1"}},
      {"quantised_to_another_type",
       [=] {
         return quantize(floats({1}), zero_point({1}), [](auto& n) { n.set("output_dtype", 3); });
       },
       {"'output_dtype' asks for int8", "zero point 'z' has type uint8"}},
      {"quantised_to_eight_bit_floats",
       [=] {
         return quantize(floats({1}), zero_point({1}), [](auto& n) { n.set("output_dtype", 17); });
       },
       {"float8e4m3fn", "expected one of"}},
      {"quantised_to_long_integers",
       [=] { return quantize(floats({1}), zero_point({1}, DataType::int64), as_it_is); },
       {"quantises to int64", "expected int8, uint8, int16 or uint16"}},
  };
}

std::vector<Wrong> wrong_factors() {
  return {
      {"dequantised_reals",
       [] { return dequantize(DataType::float32, DataType::float32); },
       {"node 'd'", "input 'x' has type float32", "expected int8"}},
      {"zero_point_of_another_type",
       [] { return dequantize(DataType::int8, DataType::uint8); },
       {"zero point 'z' has type uint8, expected int8"}},
      {"scales_of_other_filters",
       [] {
         return q_linear_conv("ws", floats({1, 2, 3}));
       },
       {"node 'c'", "'ws' has shape 3", "expected one value or the shape 4"}},
      {"scales_of_channels",
       [] {
         return q_linear_conv("xs", floats({1, 2, 3}));
       },
       {"'xs' has shape 3, expected one value"}},
      {"bias_of_bytes",
       [] { return q_linear_conv("b", zero_point({4})); },
       {"bias 'b' has type uint8, expected int32"}},
      {"filters_of_reals",
       [] {
         return q_linear_conv("w", floats({4, 3, 1, 1}, std::vector<float>(12)));
       },
       {"'w' has type float32, expected int8 or uint8"}},
      {"scale_in_double_precision",
       [] { return q_linear_conv("ys", zero_point({}, DataType::float64)); },
       {"scale 'ys' has type float64, expected float32"}},
  };
}

/// A node of ONNX Runtime's quantiser; `x` and `y` have 2 x 3 bytes, or as said.
OnnxModel of_quantiser(const std::string& op_type, const std::vector<std::string>& inputs,
                       const Shape& shape_of_y = {2, 3}) {
  OnnxModel model;
  model.input("x", {2, 3}, DataType::uint8).input("y", shape_of_y, DataType::uint8).output("r");
  model.input("f", {2, 3}).weight("s", floats({0.5f})).weight("ss", floats({1, 2}));
  model.weight("z", zero_point({})).weight("b", zero_point({}, DataType::int32));
  model.node(op_type, inputs, {"r"}).named("q").proto().set_domain("com.microsoft");
  return model;
}

std::vector<Wrong> wrong_operators_of_quantiser() {
  return {
      {"parts_that_do_not_fit",
       [] {
         return of_quantiser("QLinearConcat", {"s", "z", "x", "s", "z", "y", "s", "z"}, {3, 3});
       },
       {"the part 'y' has shape 3x3, which differs from 2x3 along another axis than 1"}},
      {"part_without_scale",
       [] {
         return of_quantiser("QLinearConcat", {"s", "z", "x", "s", "z", "y"});
       },
       {"has 6 inputs, expected two and three for each part"}},
      {"sum_of_shapes_that_do_not_fit",
       [] {
         return of_quantiser("QLinearAdd", {"x", "s", "z", "y", "s", "z", "s", "z"}, {4});
       },
       {"the input 'y' has shape 4, which cannot be broadcast to 2x3"}},
      {"sigmoid_of_real_numbers",
       [] {
         return of_quantiser("QLinearSigmoid", {"f", "s", "z", "s", "z"});
       },
       {"the input 'f' has type float32, expected int8 or uint8"}},
      {"two_scales_of_one_tensor",
       [] {
         return of_quantiser("QLinearSigmoid", {"x", "ss", "z", "s", "z"});
       },
       {"the input 'ss' has shape 2, expected one value"}},
      {"zero_point_of_words",
       [] {
         return of_quantiser("QLinearSigmoid", {"x", "s", "z", "s", "b"});
       },
       {"the zero point 'b' has type int32, expected int8 or uint8"}},
      {"factors_that_do_not_fit",
       [] {
         return of_quantiser("QGemm", {"x", "s", "z", "y", "s", "z", "", "s", "z"});
       },
       {"the factors have shapes 2x3 and 2x3, expected two matrices that fit"}},
      {"pool_without_space",
       [] {
         return of_quantiser("QLinearGlobalAveragePool", {"x", "s", "z", "s", "z"});
       },
       {"2x3"}},
  };
}

class WrongQuantisation : public testing::TestWithParam<Wrong> {};

TEST_P(WrongQuantisation, is_refused_in_one_sentence) {
  const std::string text = test::message_of([] { GetParam().make().read(); });
  EXPECT_TRUE(text.starts_with("model.onnx: node '")) << text;
  expect_words(text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(By, WrongQuantisation, testing::ValuesIn(wrong_operators_of_quantiser()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(To, WrongQuantisation, testing::ValuesIn(wrong_quantisations()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Of, WrongQuantisation, testing::ValuesIn(wrong_factors()), name_of_case);

/// The one layer of a model.
const Layer& only_layer(const Network& network) {
  EXPECT_EQ(network.layers.size(), 1u);
  return network.layers.at(0);
}

TEST(ReadQuantised, the_zero_point_or_an_attribute_says_the_type) {
  const auto type_of = [](const OnnxModel& model) {
    const Network network = model.read();
    return network[network.outputs.at(0)].type;
  };
  const auto nothing = [](test::OnnxNode&) {};
  EXPECT_EQ(type_of(quantize(floats({1}), zero_point({1}, DataType::int16), nothing)),
            DataType::int16);
  for (const bool asked : {false, true}) {
    OnnxModel model(21);
    model.input("x", {2}).weight("s", floats({1})).output("y");
    auto node = model.node("QuantizeLinear", {"x", "s"}, {"y"});
    if (asked) node.set("output_dtype", 3);
    EXPECT_EQ(type_of(model), asked ? DataType::int8 : DataType::uint8);
  }
}

TEST(ReadQuantised, scales_belong_to_the_tensor_an_axis_or_blocks) {
  const auto scaling_of = [](const OnnxModel& model) {
    return std::get<QuantizeLinear>(only_layer(model.read()).op).scaling;
  };
  const auto on_axis = [](std::int64_t axis, std::int64_t block) {
    return [=](test::OnnxNode& node) { node.set("axis", axis).set("block_size", block); };
  };
  const Scaling one = scaling_of(quantize(floats({2}), zero_point({1}), on_axis(-1, 0)));
  EXPECT_EQ(one.block, 0);
  const Scaling last = scaling_of(quantize(floats({1, 2, 3, 4}), zero_point({4}), on_axis(-1, 0)));
  EXPECT_EQ(last.axis, 2);
  const Scaling blocks = scaling_of(
      quantize(floats({2, 2, 4}, std::vector<float>(16, 1)), zero_point({2, 2, 4}), on_axis(1, 2)));
  EXPECT_EQ(blocks.axis, 1);
  EXPECT_EQ(blocks.block, 2);
}

TEST(ReadQuantised, integer_products_know_their_costs) {
  const Network network = q_linear_conv("", {}).read();
  validate(network);
  const Cost cost = cost_of(network);
  EXPECT_EQ(cost.macs, 5 * 5 * 4 * 3);
  EXPECT_EQ(cost.parameters, 12 + 4);
}

TEST(ReadQuantised, zero_points_may_be_left_out_of_integer_products) {
  OnnxModel model(10);
  model.input("x", {1, 1, 3, 3}, DataType::uint8).weight("w", zero_point({2, 1, 2, 2})).output("y");
  model.weight("wz", zero_point({2}));
  model.node("ConvInteger", {"x", "w", "", "wz"}, {"y"});
  const Network network = model.read();
  EXPECT_FALSE(only_layer(network).inputs.at(2).valid());
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(network[network.outputs[0]].type, DataType::int32);
}

}  // namespace
}  // namespace millrace::formats
