// What changes nothing is passed over: outputs that nobody reads, attributes and inputs without
// effect. Values are worked out by hand.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "network/evaluate/evaluate.h"
#include "support/message_of.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::OnnxModel;

std::vector<float> unread_answer(const OnnxModel& model, const std::vector<float>& x) {
  const Network network = model.read();
  std::vector<Array> inputs;
  for (const TensorId input : network.inputs) {
    const Tensor& tensor = network[input];
    inputs.push_back(inputs.empty()
                         ? floats(tensor.shape, x)
                         : make_array(tensor.type, tensor.shape, Buffer(tensor.size())));
  }
  const Array y = evaluate(network, inputs).at(0);
  const auto values = y.values<float>();
  return {values.begin(), values.end()};
}

OnnxModel with_normalization(std::int64_t opset, const std::vector<std::string>& outputs) {
  OnnxModel model(opset);
  model.input("x", {1, 2, 2}).output("y");
  model.weight("scale", floats({2, 3})).weight("bias", floats({0, 1}));
  model.weight("m", floats({1, 10})).weight("v", floats({4, 25}));
  model.node("BatchNormalization", {"x", "scale", "bias", "m", "v"}, outputs)
      .set_number("epsilon", 0);
  return model;
}

TEST(Unread, outputs_of_training_do_not_matter) {
  for (const std::int64_t opset : {14, 15})
    EXPECT_EQ(unread_answer(with_normalization(opset, {"y", "a", "b", "c", "d"}), {1, 5, 20, 0}),
              (std::vector<float>{0, 4, 7, -5}))
        << opset;
  EXPECT_EQ(unread_answer(with_normalization(13, {"y", "", "", "", ""}), {1, 5, 20, 0}),
            (std::vector<float>{0, 4, 7, -5}));
}

/// As PyTorch standardises weights: by the moments of the input, here 3 and 4, 10 and 100.
TEST(Unread, outputs_of_training_say_before_opset_14_that_it_is_meant) {
  for (const std::int64_t opset : {7, 9, 11, 13})
    EXPECT_EQ(unread_answer(with_normalization(opset, {"y", "a", "b", "c", "d"}), {1, 5, 20, 0}),
              (std::vector<float>{-2, 2, 4, -2}))
        << opset;
}

TEST(Unread, outputs_of_training_that_are_read_are_refused) {
  OnnxModel model = with_normalization(13, {"z", "a", "b"});
  model.node("Add", {"z", "b"}, {"y"});
  const std::string text = test::message_of([&] { model.read(); });
  EXPECT_NE(text.find("output 2 exists only in training, and something reads it"),
            std::string::npos)
      << text;
}

/// A graph inside of a node reads it.
TEST(Unread, an_output_that_a_branch_reads_is_read) {
  OnnxModel model = with_normalization(13, {"z", "a"});
  model.input("c", {}, DataType::boolean).node("If", {"c"}, {"y"});
  auto& choice = *model.proto().mutable_graph()->mutable_node(1);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& attribute = *choice.add_attribute();
    attribute.set_name(name);
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    auto& node = *attribute.mutable_g()->add_node();
    node.set_op_type("Identity");
    node.add_input("a");
    node.add_output(name);
    attribute.mutable_g()->add_output()->set_name(name);
  }
  EXPECT_NE(test::message_of([&] { model.read(); }).find("output 1 exists only in training"),
            std::string::npos);
}

/// The same inside of a node: its second output, which nobody reads, exists only in training.
void put_normalization(::onnx::NodeProto& node) {
  node.set_op_type("BatchNormalization");
  for (const char* input : {"x", "scale", "bias", "m", "v"}) node.add_input(input);
  for (const char* output : {"inner_y", "inner_mean"}) node.add_output(output);
}

/// The network of with_normalization, as what `change` makes of its node.
template <class Change>
OnnxModel with_inner(const Change& change) {
  OnnxModel model = with_normalization(13, {"y", "mean"});
  ::onnx::NodeProto& node = *model.proto().mutable_graph()->mutable_node(0);
  node.clear_attribute();
  change(model, node);
  return model;
}

::onnx::GraphProto& inner_graph(::onnx::NodeProto& node, const std::string& name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  auto& graph = *attribute.mutable_g();
  put_normalization(*graph.add_node());
  for (const char* output : {"inner_y", "inner_mean"}) graph.add_output()->set_name(output);
  return graph;
}

TEST(Unread, outputs_of_branches_loops_and_functions_do_not_matter) {
  const std::vector<float> x{1, 5, 20, 0};
  const std::vector<std::uint8_t> yes{1};
  const OnnxModel branch = with_inner([&](OnnxModel& model, ::onnx::NodeProto& node) {
    node.set_op_type("If");
    node.clear_input();
    node.add_input("c");
    model.weight("c", make_array<std::uint8_t>(DataType::boolean, {}, yes));
    inner_graph(node, "then_branch");
    inner_graph(node, "else_branch");
  });
  const OnnxModel loop = with_inner([&](OnnxModel& model, ::onnx::NodeProto& node) {
    node.set_op_type("Loop");
    node.clear_input();
    for (const char* input : {"once", "", "x"}) node.add_input(input);
    model.integers("once", {1});
    auto& body = inner_graph(node, "body");
    for (const char* input : {"i", "go", "x"}) body.add_input()->set_name(input);
    body.add_output()->set_name("inner_mean");
    body.mutable_output(0)->set_name("go");
    body.mutable_output(1)->set_name("inner_y");
  });
  const OnnxModel function = with_inner([](OnnxModel& model, ::onnx::NodeProto& node) {
    node.set_op_type("Standardise");
    node.set_domain("own");
    auto& made = *model.proto().add_functions();
    made.set_name("Standardise"), made.set_domain("own");
    for (const char* input : {"x", "scale", "bias", "m", "v"}) made.add_input(input);
    for (const char* output : {"inner_y", "inner_mean"}) made.add_output(output);
    put_normalization(*made.add_node());
  });
  for (const OnnxModel* model : {&branch, &loop, &function}) {
    const std::vector<float> found = unread_answer(*model, x);
    ASSERT_EQ(found.size(), 4u);
    EXPECT_NEAR(found[1], 2, 1e-4);  // epsilon is the usual one
    EXPECT_NEAR(found[2], 4, 1e-4);
  }
}

TEST(Unread, channels_of_two_dimensions_have_one_position) {
  OnnxModel model(7);
  model.input("x", {1, 2}).output("y");
  for (const char* name : {"scale", "bias", "m"}) model.weight(name, floats({1, 2}));
  model.weight("v", floats({1, 4}));
  model.node("BatchNormalization", {"x", "scale", "bias", "m", "v"}, {"y"})
      .set("spatial", 0)
      .set_number("epsilon", 0);
  EXPECT_EQ(unread_answer(model, {3, 6}), (std::vector<float>{3, 6}));
}

TEST(Unread, moments_of_a_sum_do_not_matter) {
  OnnxModel model(17);
  model.input("x", {1, 1, 2}).input("skip", {1, 1, 2}).output("y").weight("scale", floats({1, 2}));
  model.node("SkipSimplifiedLayerNormalization", {"x", "skip", "scale"}, {"y", "a", "b", "sum"})
      .set_number("epsilon", 0)
      .proto()
      .set_domain("com.microsoft");
  EXPECT_EQ(unread_answer(model, {3, 3}), (std::vector<float>{1, 2}));
}

OnnxModel with_pad(const std::string& mode, const std::vector<std::int64_t>& pads) {
  OnnxModel model;
  model.input("x", {3}).input("value", {}).output("y").integers("pads", pads);
  model.node("Pad", {"x", "pads", "value"}, {"y"}).set_text("mode", mode);
  return model;
}

TEST(Unread, the_value_of_pads_matters_only_where_it_stands) {
  EXPECT_EQ(unread_answer(with_pad("reflect", {1, 0}), {1, 2, 3}),
            (std::vector<float>{2, 1, 2, 3}));
  EXPECT_EQ(unread_answer(with_pad("constant", {-1, 0}), {1, 2, 3}), (std::vector<float>{2, 3}));
  EXPECT_NE(test::message_of([] { with_pad("constant", {1, 0}).read(); }).find("'value'"),
            std::string::npos);
}

TEST(Unread, what_automatic_padding_replaces_does_not_matter) {
  OnnxModel model;
  model.input("x", {1, 1, 3}).output("y");
  auto node = model.node("MaxPool", {"x"}, {"y"});
  node.set_list("kernel_shape", {2}).set_text("auto_pad", "VALID").set_list("pads", {-1, -1});
  EXPECT_EQ(unread_answer(model, {1, 3, 2}), (std::vector<float>{3, 3}));
}

TEST(Unread, the_ratio_of_what_is_not_dropped_does_not_matter) {
  OnnxModel model;
  const std::vector<std::uint8_t> no{0};
  model.input("x", {2}).input("ratio", {}).output("y");
  model.weight("training", make_array<std::uint8_t>(DataType::boolean, {}, no));
  model.node("Dropout", {"x", "ratio", "training"}, {"y"});
  EXPECT_EQ(unread_answer(model, {1, 2}), (std::vector<float>{1, 2}));
}

TEST(Unread, a_precision_that_is_the_usual_one_does_not_matter) {
  OnnxModel model(23);
  model.input("x", {2}, DataType::float16).output("y");
  model.weight("s", network::converted(floats({1}), DataType::float16));
  auto node = model.node("QuantizeLinear", {"x", "s"}, {"y"});
  node.set("precision", ::onnx::TensorProto::FLOAT16);
  EXPECT_EQ(test::message_of([&] { model.read(); }), "no error");
  node.set("axis", 0).proto().mutable_attribute(0)->set_i(::onnx::TensorProto::DOUBLE);
  EXPECT_NE(test::message_of([&] { model.read(); }).find("'precision'"), std::string::npos);
}

/// Before opset 13 a row is all that follows the axis.
TEST(Unread, the_largest_is_found_among_several_dimensions) {
  OnnxModel model(11);
  model.input("x", {2, 2, 2}).output("y").node("Hardmax", {"x"}, {"y"});
  EXPECT_EQ(unread_answer(model, {1, 2, 4, 3, 9, 5, 6, 7}),
            (std::vector<float>{0, 0, 1, 0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace millrace::formats
