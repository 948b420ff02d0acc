// What the importer makes of good models.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::OnnxModel;
using test::OnnxNode;

const Tensor& output(const Network& network, std::size_t i = 0) {
  return network[network.outputs.at(i)];
}

std::vector<float> values(const Array& array) {
  return {array.values<float>().begin(), array.values<float>().end()};
}

std::vector<float> run(const Network& network, const std::vector<float>& input) {
  const Array array = floats(network[network.inputs[0]].shape, input);
  return values(evaluate(network, std::vector{array})[0]);
}

TEST(ReadOnnx, names_come_from_the_file_or_are_made_and_are_unique) {
  OnnxModel model;
  model.input("x", {4}).output("d");
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"a"}, {"b"}).named("same");
  model.node("Exp", {"b"}, {"c"}).named("same");
  model.node("Exp", {"c"}, {"d"}).named("Relu_0");
  const Network network = model.read();
  ASSERT_EQ(network.layers.size(), 4u);
  EXPECT_EQ(network.layers[0].name, "Relu_0");
  EXPECT_EQ(network.layers[1].name, "same");
  EXPECT_EQ(network.layers[2].name, "same_2");
  EXPECT_EQ(network.layers[3].name, "Relu_0_2");
  EXPECT_EQ(output(network).name, "d");
}

TEST(ReadOnnx, open_sides_of_a_picture_are_those_that_its_exporter_names) {
  const auto shape_with = [](const std::string& imgsz, std::vector<std::int64_t> declared) {
    OnnxModel model;
    model.input("images", std::move(declared)).output("y");
    model.node("Relu", {"images"}, {"y"});
    auto& entry = *model.proto().add_metadata_props();
    entry.set_key("imgsz");
    entry.set_value(imgsz);
    const Network network = model.read();
    return network[network.inputs.front()].shape;
  };
  EXPECT_EQ(shape_with("[480, 640]", {0, 3, -1, -1}), (Shape{1, 3, 480, 640}));
  EXPECT_EQ(shape_with("320", {0, 3, -1, -1}), (Shape{1, 3, 320, 320}));
  EXPECT_EQ(shape_with("[480, 640]", {2, 3, 100, -1}), (Shape{2, 3, 100, 640}));
  EXPECT_THROW(shape_with("[480, 640]", {0, -1, -1, -1}), InputError);
  EXPECT_THROW(shape_with("large", {0, 3, -1, -1}), InputError);
  EXPECT_THROW(shape_with("[480, 640]", {0, 3, -1}), InputError);
}

TEST(ReadOnnx, metadata_are_kept_and_do_not_change_the_hash) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  const std::string before = hash_of(model.read());
  auto& entry = *model.proto().add_metadata_props();
  entry.set_key("task");
  entry.set_value("pose");
  const Network network = model.read();
  EXPECT_EQ(network.metadata.at("task"), "pose");
  EXPECT_EQ(hash_of(network), before);
}

TEST(ReadOnnx, nodes_in_any_order_are_sorted) {
  OnnxModel model;
  model.input("x", {2}).output("c");
  model.node("Exp", {"b"}, {"c"});
  model.node("Sqrt", {"a"}, {"b"});
  model.node("Relu", {"x"}, {"a"});
  const Network network = model.read();
  validate(network);
  EXPECT_EQ(network.layers[0].name, "Relu_2");
  EXPECT_EQ(network.layers[2].name, "Exp_0");
}

TEST(ReadOnnx, identity_and_dropout_vanish) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("Identity", {"x"}, {"a"});
  model.node("Dropout", {"a"}, {"b"});
  model.node("Relu", {"b"}, {"c"});
  model.node("Identity", {"c"}, {"y"});
  const Network network = model.read();
  ASSERT_EQ(network.layers.size(), 1u);
  EXPECT_EQ(network.layers[0].inputs[0], network.inputs[0]);
  EXPECT_EQ(output(network).name, "y");
}

TEST(ReadOnnx, outputs_that_are_one_tensor_keep_their_names_and_order) {
  OnnxModel model;
  model.input("x", {2}).output("heat").output("copy").output("same").output("picture");
  model.node("Exp", {"x"}, {"heat"});
  model.node("Identity", {"heat"}, {"copy"});
  model.node("Reshape", {"heat", "shape"}, {"same"});
  model.integers("shape", {2});
  model.node("Identity", {"x"}, {"picture"});
  const Network network = model.read();
  validate(network);
  ASSERT_EQ(network.outputs.size(), 4u);
  for (const auto& [i, name] : {std::pair{0u, "heat"}, {1u, "copy"}, {2u, "same"}, {3u, "picture"}})
    EXPECT_EQ(output(network, i).name, name);
  const std::vector<Array> results = evaluate(network, std::vector{floats({2}, {0, 1})});
  EXPECT_EQ(values(results[1]), values(results[0]));
  EXPECT_EQ(values(results[2]), values(results[0]));
  EXPECT_EQ(values(results[3]), (std::vector<float>{0, 1}));
}

TEST(ReadOnnx, a_first_output_that_nobody_reads_is_there) {
  OnnxModel pool;
  pool.input("x", {1, 1, 2, 2}).output("y");
  pool.node("MaxPool", {"x"}, {"values", "indices"}).set_list("kernel_shape", {2, 2});
  pool.node("Cast", {"indices"}, {"y"}).set("to", 1);
  EXPECT_EQ(run(pool.read(), {1, 2, 4, 3}), (std::vector<float>{2}));
  OnnxModel scale;
  scale.input("x", {2, 2}).output("y");
  scale.node("DynamicQuantizeLinear", {"x"}, {"", "y"});
  EXPECT_EQ(run(scale.read(), {0, 255, 1, 2}), (std::vector<float>{1}));
}

TEST(ReadOnnx, a_scale_makes_the_size_that_float32_makes) {
  OnnxModel model;
  model.input("x", {1, 1, 86, 43}).output("y");
  const float scale = 256.0f / 86.0f;
  model.weight("scales", floats({1, 1, scale, scale}));
  model.node("Resize", {"x", "", "scales"}, {"y"});
  EXPECT_EQ(output(model.read()).shape, (Shape{1, 1, 256, 128}));
}

/// The shape of x, 1x1x7x10, resized by 1.5 where the file declares another shape.
Shape resized(const Shape& declared, bool is_output) {
  OnnxModel model;
  model.input("x", {1, 1, 7, 10}).output("y").weight("scales", floats({1, 1, 1.5f, 1.5f}));
  model.node("Resize", {"x", "", "scales"}, {is_output ? "y" : "r"});
  if (!is_output) model.node("Relu", {"r"}, {"y"});
  ::onnx::GraphProto& graph = *model.proto().mutable_graph();
  ::onnx::ValueInfoProto& info = is_output ? *graph.mutable_output(0) : *graph.add_value_info();
  info.set_name(is_output ? "y" : "r");
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(::onnx::TensorProto::FLOAT);
  for (const std::int64_t size : declared) tensor.mutable_shape()->add_dim()->set_dim_value(size);
  return output(model.read()).shape;
}

TEST(ReadOnnx, a_declared_size_that_only_rounds_otherwise_wins) {
  for (const bool is_output : {true, false}) {
    EXPECT_EQ(resized({1, 1, 10, 15}, is_output), (Shape{1, 1, 10, 15}));
    EXPECT_EQ(resized({1, 1, 11, 15}, is_output), (Shape{1, 1, 11, 15}));
    EXPECT_EQ(resized({1, 1, 12, 15}, is_output), (Shape{1, 1, 10, 15}));
    EXPECT_EQ(resized({1, 1, 11, 16}, is_output), (Shape{1, 1, 10, 15}));  // 15 needs no rounding
    EXPECT_EQ(resized({1, 11, 15}, is_output), (Shape{1, 1, 10, 15}));
    EXPECT_EQ(resized({1, 1, 11, 0}, is_output), (Shape{1, 1, 10, 15}));
  }
}

TEST(ReadOnnx, nodes_that_no_output_needs_are_left_out_unread) {
  OnnxModel model;
  model.input("x", {4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  model.node("TopK", {"y", "x"}, {"values", "indices"});
  EXPECT_EQ(model.read().layers.size(), 1u);
}

TEST(ReadOnnx, floor_and_ceil_of_known_values_are_folded) {
  for (const auto& [operation, size] : {std::pair{"Floor", 2}, {"Ceil", 3}}) {
    OnnxModel model;
    model.input("x", {6}).output("y").weight("size", floats({1}, {2.5f}));
    model.node(operation, {"size"}, {"whole"});
    model.node("Cast", {"whole"}, {"rows"}).set("to", 7);
    model.integers("rest", {-1});
    model.node("Concat", {"rows", "rest"}, {"shape"}).set("axis", 0);
    model.node("Reshape", {"x", "shape"}, {"y"});
    EXPECT_EQ(output(model.read()).shape, (Shape{size, 6 / size}));
  }
}

TEST(ReadOnnx, a_batch_of_zero_is_chosen) {
  OnnxModel model;
  model.input("x", {0, 4}).output("y");
  model.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(output(model.read({.shapes = {{"x", {1, 4}}}})).shape, (Shape{1, 4}));
}

TEST(ReadOnnx, an_output_may_be_an_input_or_a_constant) {
  OnnxModel model(12);
  model.input("x", {2}).output("y").output("mask").output("w").weight("w", {3});
  model.node("Dropout", {"x"}, {"y", "mask"});
  const Network network = model.read();
  validate(network);
  ASSERT_EQ(network.layers.size(), 1u);
  EXPECT_EQ(network.layers[0].inputs[0], network.inputs[0]);
  EXPECT_EQ(network[network.inputs[0]].name, "x");
  EXPECT_EQ(output(network).name, "y");
  EXPECT_EQ(output(network, 1).type, DataType::boolean);
  EXPECT_EQ(output(network, 1).constant->values<std::uint8_t>()[1], 1);
  EXPECT_EQ(output(network, 2).shape, Shape{3});
}

TEST(ReadOnnx, all_forms_of_constants_are_known) {
  OnnxModel model;
  model.output("a").output("b").output("c").output("d").output("e");
  model.node("Constant", {}, {"a"}).set("value_int", 7);
  model.node("Constant", {}, {"b"}).set_list("value_ints", {1, 2});
  model.node("Constant", {}, {"c"}).set_number("value_float", 0.5f);
  model.node("Constant", {}, {"d"}).set_numbers("value_floats", {1, 2, 3});
  model.node("Constant", {}, {"e"}).set_tensor("value", floats({1, 2}, {4, 5}));
  const Network network = model.read();
  EXPECT_EQ(output(network, 0).shape, Shape{});
  EXPECT_EQ(output(network, 0).constant->values<std::int64_t>()[0], 7);
  EXPECT_EQ(output(network, 1).constant->values<std::int64_t>()[1], 2);
  EXPECT_EQ(values(*output(network, 2).constant), std::vector<float>{0.5f});
  EXPECT_EQ(values(*output(network, 3).constant), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(output(network, 4).shape, (Shape{1, 2}));
}

TEST(ReadOnnx, shape_arithmetic_is_folded_away) {
  OnnxModel model;
  model.input("x", {2, 3, 4}).integers("zero", {0}).integers("rest", {-1}).output("y");
  model.node("Shape", {"x"}, {"shape"});
  model.node("Gather", {"shape", "zero"}, {"batch"});
  model.node("Concat", {"batch", "rest"}, {"wanted"}).set("axis", 0);
  model.node("Reshape", {"x", "wanted"}, {"y"});
  const Network network = model.read();
  ASSERT_EQ(network.layers.size(), 1u);
  EXPECT_EQ(output(network).shape, (Shape{2, 12}));
}

TEST(ReadOnnx, an_open_dimension_is_chosen_by_the_options) {
  OnnxModel model;
  model.input("x", {-1, 3}).output("y");
  model.node("Relu", {"x"}, {"y"});
  ModelSource options;
  options.shapes["x"] = {5, 3};
  EXPECT_EQ(output(model.read(options)).shape, (Shape{5, 3}));
}

TEST(ReadOnnx, an_input_may_be_given_as_a_constant) {
  OnnxModel model;
  model.input("x", {2, 3}).input("s", {1}, DataType::int64).output("y");
  model.node("Reshape", {"x", "s"}, {"y"});
  ModelSource options;
  const std::vector<std::int64_t> six{6};
  options.constants["s"] = make_array<std::int64_t>(DataType::int64, {1}, six);
  const Network network = model.read(options);
  EXPECT_EQ(network.inputs.size(), 1u);
  EXPECT_EQ(output(network).shape, Shape{6});
}

TEST(ReadOnnx, weights_that_are_also_inputs_are_weights) {
  OnnxModel model;
  model.proto().set_ir_version(3);
  model.input("x", {2}).input("w", {2}).weight("w", {2}).output("y");
  model.node("Add", {"x", "w"}, {"y"});
  const Network network = model.read();
  ASSERT_EQ(network.inputs.size(), 1u);
  EXPECT_EQ(network[network.inputs[0]].name, "x");
}

TEST(ReadOnnx, sums_of_three_are_chains) {
  OnnxModel model;
  model.input("x", {2}).weight("a", {2}).weight("b", {2}).output("y").output("z");
  model.node("Sum", {"x", "a", "b"}, {"y"}).named("sum");
  model.node("Max", {"x"}, {"z"});
  const Network network = model.read();
  ASSERT_EQ(network.layers.size(), 3u);
  EXPECT_EQ(network.layers[1].name, "sum_2");
  EXPECT_EQ(network.layers[2].inputs[0], network.inputs[0]);
  const std::vector<float> sum = run(network, {1, 2});
  EXPECT_FLOAT_EQ(sum[0], 1.02f);
  EXPECT_FLOAT_EQ(sum[1], 2.04f);
}

TEST(ReadOnnx, typed_fields_and_raw_data_give_the_same_weights) {
  OnnxModel model;
  model.output("w");
  auto& weight = *model.proto().mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(::onnx::TensorProto::INT8);
  weight.add_dims(2);
  weight.add_int32_data(-3);
  weight.add_int32_data(4);
  const Network network = model.read();
  EXPECT_EQ(output(network).constant->values<std::int8_t>()[0], -3);
  EXPECT_EQ(output(network).constant->values<std::int8_t>()[1], 4);
}

/// The shape that an operator's window gives an input of 1x1xSIZExSIZE.
Shape windowed(const std::string& op_type, std::int64_t size,
               const std::function<void(test::OnnxNode&)>& change) {
  OnnxModel model;
  model.input("x", {1, 1, size, size}).weight("w", {1, 1, 3, 3}).output("y");
  const bool has_weight = op_type.starts_with("Conv");
  auto node = model.node(op_type, has_weight ? std::vector<std::string>{"x", "w"}
                                             : std::vector<std::string>{"x"}, {"y"});
  if (!has_weight) node.set_list("kernel_shape", {3, 3});
  change(node);
  return output(model.read()).shape;
}

TEST(ReadOnnx, automatic_padding_gives_the_size_over_the_stride) {
  for (const char* kind : {"SAME_UPPER", "SAME_LOWER"}) {
    const auto same = [&](test::OnnxNode& node) {
      node.set_text("auto_pad", kind).set_list("strides", {2, 2});
    };
    EXPECT_EQ(windowed("Conv", 7, same), (Shape{1, 1, 4, 4}));
    EXPECT_EQ(windowed("MaxPool", 8, same), (Shape{1, 1, 4, 4}));
    EXPECT_EQ(windowed("ConvTranspose", 4, same), (Shape{1, 1, 8, 8}));
  }
}

TEST(ReadOnnx, a_window_never_begins_behind_the_input) {
  const auto ceil = [](test::OnnxNode& node) {
    node.set("ceil_mode", 1).set_list("strides", {3, 3}).set_list("pads", {1, 1, 1, 1});
  };
  EXPECT_EQ(windowed("MaxPool", 5, ceil), (Shape{1, 1, 2, 2}));
  EXPECT_EQ(windowed("MaxPool", 6, ceil), (Shape{1, 1, 3, 3}));
}

/// As poolers of EfficientNets are written: a window as wide as there are channels.
TEST(ReadOnnx, rounded_up_a_window_larger_than_the_input_takes_all_of_it) {
  const auto pool = [](const std::string& kind, const Shape& strides, const Shape& pads = {}) {
    OnnxModel model(17);
    model.input("x", {1, 1, 2, 3}).output("y");
    OnnxNode node = model.node(kind, {"x"}, {"y"});
    node.set("ceil_mode", 1).set_list("strides", strides).set_list("kernel_shape", {64, 2});
    if (!pads.empty()) node.set_list("pads", pads).set("count_include_pad", 1);
    return model;
  };
  const auto values = [](const OnnxModel& model) {
    const Array array =
        evaluate(model.read(), std::vector<Array>{floats({1, 1, 2, 3}, {1, 2, 6, 3, 4, 8})}).at(0);
    return std::vector<float>(array.values<float>().begin(), array.values<float>().end());
  };
  const Network network = pool("AveragePool", {64, 2}).read();
  EXPECT_EQ(output(network).shape, (Shape{1, 1, 1, 2}));
  EXPECT_EQ(std::get<Pool>(network.layers[0].op).window.kernel, (Shape{2, 2}));
  EXPECT_EQ(values(pool("AveragePool", {64, 2})), (std::vector<float>{2.5f, 7}));
  EXPECT_EQ(values(pool("MaxPool", {64, 2})), (std::vector<float>{4, 8}));
  // Padding that counts: three rows of one number, then of two.
  const auto padded = values(pool("AveragePool", {64, 2}, {1, 1, 0, 0}));
  ASSERT_EQ(padded.size(), 2U);
  EXPECT_FLOAT_EQ(padded[0], 4 / 6.f);
  EXPECT_FLOAT_EQ(padded[1], 20 / 6.f);
  EXPECT_THROW(pool("AveragePool", {1, 2}).read(), InputError) << "nothing is left of it";
}

/// One input, attributes in old opsets, inputs in new ones: the same outcome.
struct TwoForms {
  std::string op_type, attribute;
  std::vector<std::int64_t> values;
  std::int64_t old_opset, new_opset;
  Shape expected;
};

TEST(ReadOnnx, attributes_and_inputs_mean_the_same) {
  const std::vector<TwoForms> forms{{"Squeeze", "axes", {1}, 11, 13, {2, 3, 4}},
                                    {"Unsqueeze", "axes", {0, -1}, 11, 13, {1, 2, 1, 3, 4, 1}},
                                    {"Pad", "pads", {0, 0, 1, 1, 0, 0, 0, 2}, 7, 11, {2, 1, 4, 7}},
                                    {"ReduceMean", "axes", {-1}, 13, 18, {2, 1, 3, 1}}};
  for (const TwoForms& form : forms) {
    OnnxModel old_model(form.old_opset);
    old_model.input("x", {2, 1, 3, 4}).output("y");
    old_model.node(form.op_type, {"x"}, {"y"}).set_list(form.attribute, form.values);
    OnnxModel new_model(form.new_opset);
    new_model.input("x", {2, 1, 3, 4}).integers("v", form.values).output("y");
    new_model.node(form.op_type, {"x", "v"}, {"y"});
    EXPECT_EQ(output(old_model.read()).shape, form.expected) << form.op_type;
    EXPECT_EQ(hash_of(old_model.read()), hash_of(new_model.read())) << form.op_type;
  }
}

TEST(ReadOnnx, softmax_covers_all_following_dimensions_before_opset_13) {
  for (const std::int64_t opset : {12, 13}) {
    OnnxModel model(opset);
    model.input("x", {2, 3, 4}).output("y");
    model.node("Softmax", {"x"}, {"y"}).set("axis", 1);
    const Network network = model.read();
    const auto& softmax = std::get<Softmax>(network.layers.at(0).op);
    EXPECT_EQ(softmax.axis, 1);
    EXPECT_EQ(softmax.end, opset == 12 ? 3 : 2);
  }
}

}  // namespace
}  // namespace millrace::formats
