// Sizes that depend on values: NonZero, NonMaxSuppression and what follows them.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/file.h"
#include "formats/fixed_inputs.h"
#include "formats/onnx/wrong.h"
#include "formats/read.h"
#include "network/batch.h"
#include "network/evaluate/evaluate.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::OnnxModel;

std::vector<float> numbers(const Array& array) {
  const auto values = array.values<float>();
  return {values.begin(), values.end()};
}

std::vector<Array> run_on(const Network& network, const std::vector<float>& x) {
  return evaluate(network, std::vector<Array>{floats(network[network.inputs[0]].shape, x)});
}

/// The values of x that are above 0, twice.
OnnxModel with_selection() {
  OnnxModel model;
  model.input("x", {6}).output("y").weight("zero", floats({0})).weight("two", floats({2}));
  model.node("Mul", {"x", "two"}, {"doubled"});
  model.node("Greater", {"x", "zero"}, {"mask"});
  model.node("NonZero", {"mask"}, {"places"});
  model.node("Transpose", {"places"}, {"columns"});
  model.node("GatherND", {"doubled", "columns"}, {"y"}).named("select");
  return model;
}

TEST(Varying, selected_values_come_first_and_the_rest_is_minus_one) {
  const Network network = with_selection().read();
  validate(network);
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{6}));
  EXPECT_EQ(numbers(run_on(network, {1, -2, 3, 0, -5, 6})[0]),
            (std::vector<float>{2, 6, 12, -1, -1, -1}));
  EXPECT_EQ(numbers(run_on(network, {-1, -2, 0, 0, -5, 0})[0]),
            (std::vector<float>{-1, -1, -1, -1, -1, -1}));
}

TEST(Varying, only_what_depends_on_the_sizes_is_in_the_part) {
  const Network network = with_selection().read();
  std::vector<std::string_view> names;
  for (const Layer& layer : network.layers) names.push_back(name_of(layer.op));
  EXPECT_EQ(names, (std::vector<std::string_view>{"Mul", "Greater", "VaryingPart"}));
}

TEST(Varying, corners_are_aligned_as_in_pytorch_inside_of_the_part_too) {
  OnnxModel model;
  model.proto().set_producer_name("pytorch");
  model.input("x", {7}).output("y").weight("zero", floats({0}));
  model.weight("scales", floats({1, 1, 1, 0.5f})).integers("image", {1, 1, 1, -1});
  model.integers("row", {-1});
  model.node("Greater", {"x", "zero"}, {"mask"});
  model.node("NonZero", {"mask"}, {"places"});
  model.node("Transpose", {"places"}, {"columns"});
  model.node("GatherND", {"x", "columns"}, {"selected"});
  model.node("Reshape", {"selected", "image"}, {"line"});
  model.node("Resize", {"line", "", "scales"}, {"half"})
      .set_text("mode", "linear")
      .set_text("coordinate_transformation_mode", "align_corners");
  model.node("Reshape", {"half", "row"}, {"y"});
  EXPECT_EQ(numbers(run_on(model.read(), {10, 20, 30, 40, 50, 60, 70})[0]),
            (std::vector<float>{10, 40, 70}));
}

TEST(Varying, networks_with_other_parts_have_other_hashes) {
  OnnxModel other = with_selection();
  const int last = other.proto().graph().node_size() - 1;
  other.proto().mutable_graph()->mutable_node(last)->set_op_type("Gather");
  EXPECT_NE(hash_of(with_selection().read()), hash_of(other.read()));
}

/// As detectors end: the best boxes, then their scores, then rows of 0 up to four.
OnnxModel with_suppression() {
  OnnxModel model;
  const std::vector<std::int64_t> most{10};
  model.input("boxes", {1, 4, 4}).output("best");
  model.weight("scores", floats({1, 1, 4}, {0.3f, 0.9f, 0.8f, 0.1f}));
  model.integers("most", most).weight("overlap", floats({0.5f})).weight("least", floats({0.2f}));
  model.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"rows"});
  model.integers("two", {2}).node("Gather", {"rows", "two"}, {"places"}).set("axis", 1);
  model.integers("flat", {-1}).node("Reshape", {"places", "flat"}, {"indices"});
  model.node("Reshape", {"scores", "flat"}, {"all"});
  model.node("Gather", {"all", "indices"}, {"found"});
  model.node("Shape", {"found"}, {"count"});
  model.integers("four", {4}).node("Sub", {"four", "count"}, {"missing"});
  model.integers("none", {0}).node("Concat", {"none", "missing"}, {"amounts"}).set("axis", 0);
  model.node("Pad", {"found", "amounts"}, {"best"});
  return model;
}

TEST(Varying, rows_of_a_fixed_number_are_filled_up_as_the_model_says) {
  const Network network = with_suppression().read();
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{4}));
  // The third box lies on the second, the fourth scores too little.
  EXPECT_EQ(numbers(run_on(network, {0, 0, 1, 1, 5, 5, 6, 6, 5, 5, 6, 6, 8, 8, 9, 9})[0]),
            (std::vector<float>{0.9f, 0.3f, 0, 0}));
  EXPECT_EQ(numbers(run_on(network, {0, 0, 1, 1, 5, 5, 6, 6, 7, 7, 8, 8, 8, 8, 9, 9})[0]),
            (std::vector<float>{0.9f, 0.8f, 0.3f, 0}));
}

/// The values that are not 0, by a condition for each.
TEST(Varying, compress_takes_what_a_frame_says) {
  OnnxModel model;
  model.input("x", {4}).output("y").weight("one", floats({1}));
  model.node("Cast", {"x"}, {"mask"}).set("to", 9);
  model.node("Add", {"x", "one"}, {"more"});
  model.node("Compress", {"more", "mask"}, {"y"}).set("axis", 0);
  EXPECT_EQ(numbers(run_on(model.read(), {0, 4, 0, -2})[0]), (std::vector<float>{5, -1, -1, -1}));
}

/// A NonZero with inputs without names, whose output nothing makes.
TEST(Varying, an_output_that_no_node_makes_is_named) {
  const std::vector<std::uint8_t> bytes{
      0x08, 0x07, 0x12, 0x03, 0x50, 0x61, 0x64, 0x3a, 0x60, 0x0a, 0x20, 0x0a, 0x09, 0x63,
      0x6f, 0x6e, 0x64, 0x69, 0x74, 0x69, 0x6f, 0x6e, 0x12, 0x00, 0x12, 0x00, 0x12, 0x06,
      0x45, 0x78, 0x70, 0x61, 0x6e, 0x64, 0x22, 0x07, 0x4e, 0x6f, 0x6e, 0x5a, 0x65, 0x72,
      0x6f, 0x12, 0x04, 0x43, 0x6f, 0x6e, 0x76, 0x5a, 0x1f, 0x0a, 0x09, 0x63, 0x6f, 0x6e,
      0x64, 0x69, 0x74, 0x69, 0x6f, 0x6e, 0x12, 0x12, 0x0a, 0x10, 0x08, 0x09, 0x12, 0x0c,
      0x0a, 0x02, 0x08, 0x40, 0x0a, 0x02, 0x08, 0x02, 0x0a, 0x02, 0x08, 0x10, 0x62, 0x15,
      0x0a, 0x06, 0x45, 0x78, 0x70, 0x61, 0x6e, 0x64, 0x12, 0x0b, 0x0a, 0x09, 0x08, 0xe8,
      0x07, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x02, 0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d};
  const std::string model(bytes.begin(), bytes.end());
  try {
    read_onnx(model, "model.onnx", {});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("Expand: no node makes it"), std::string::npos)
        << error.what();
  }
}

/// Millions of entries of a condition are read without a list of them.
TEST(Varying, compress_needs_no_memory_for_what_only_a_frame_says) {
  const std::int64_t many = std::int64_t{1} << 28;
  const auto with_elements = [&](std::int64_t elements) {
    OnnxModel model;
    model.input("x", {elements}).input("mask", {many}, DataType::boolean).output("y");
    model.node("Compress", {"x", "mask"}, {"y"}).set("axis", 0);
    return model;
  };
  const network::Network network = with_elements(many).read();
  EXPECT_EQ(network[network.outputs[0]].shape, Shape{many});
  EXPECT_THROW(with_elements(3).read(), InputError);
}

void put_node(::onnx::GraphProto& graph, const std::string& op_type,
              const std::vector<std::string>& inputs, const std::string& output) {
  auto* node = graph.add_node();
  node->set_op_type(op_type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  graph.add_output()->set_name(output);
}

::onnx::GraphProto& branch_of(OnnxModel& model, const std::string& name) {
  auto& graph = *model.proto().mutable_graph();
  auto* attribute = graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  return *attribute->mutable_g();
}

/// Both values if the first is above 0, else only the second.
OnnxModel with_decision(const std::string& else_operator) {
  OnnxModel model;
  model.input("x", {2}).output("y").weight("zero", floats({0})).integers("places", {1});
  model.integers("first", {0}).node("Gather", {"x", "first"}, {"head"}).set("axis", 0);
  model.node("Greater", {"head", "zero"}, {"condition"});
  model.node("If", {"condition"}, {"y"}).named("choice");
  put_node(branch_of(model, "then_branch"), "Neg", {"x"}, "negative");
  put_node(branch_of(model, "else_branch"), else_operator, {"x", "places"}, "second");
  return model;
}

TEST(Varying, a_frame_decides_which_branch_is_taken) {
  const Network network = with_decision("Gather").read();
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{2}));
  EXPECT_EQ(numbers(run_on(network, {1, 2})[0]), (std::vector<float>{-1, -2}));
  EXPECT_EQ(numbers(run_on(network, {-1, 2})[0]), (std::vector<float>{2, -1}));
}

TEST(Varying, frames_are_not_joined) {
  const Network network = with_selection().read();
  const Verdict verdict = can_batch(network, LayerId(network.layers.size() - 1));
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason().find("from frame to frame"), std::string::npos) << verdict.reason();
}

std::string refusal_of(const OnnxModel& model) {
  try {
    model.read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "was read";
}

TEST(Varying, results_without_a_largest_size_are_refused_with_the_node) {
  OnnxModel model;
  model.input("x", {3}, DataType::int64).output("y").weight("one", floats({1}));
  model.node("NonZero", {"x"}, {"places"});
  model.node("ReduceMax", {"x"}, {"size"}).set("keepdims", 1);
  model.node("Expand", {"one", "size"}, {"ones"}).named("grow");
  model.node("Cast", {"places"}, {"numbers"}).set("to", 1);
  model.node("Mul", {"ones", "numbers"}, {"y"});
  const std::string text = refusal_of(model);
  EXPECT_NE(text.find("node 'grow' (Expand)"), std::string::npos) << text;
  EXPECT_NE(text.find("computed from the network's input 'x'"), std::string::npos) << text;
  EXPECT_NE(text.find("known when the model is read"), std::string::npos) << text;
}

/// Windows of 16 bits of x where `rate` says so, else of 8: then x is two of them, and no matrix.
OnnxModel with_rates() {
  OnnxModel model;
  model.input("x", {1, 4}).input("rate", {}, DataType::int64).output("y");
  const std::vector<std::int64_t> known{16};
  model.weight("sixteen", make_array<std::int64_t>(DataType::int64, {}, known));
  model.weight("four", {4, 1}).weight("two", {2, 1}).integers("halves", {1, 2, 2});
  model.node("Reshape", {"x", "halves"}, {"parts"});
  model.node("Equal", {"rate", "sixteen"}, {"condition"});
  model.node("If", {"condition"}, {"y"}).named("choice");
  put_node(branch_of(model, "then_branch"), "Gemm", {"x", "four"}, "whole");
  put_node(branch_of(model, "else_branch"), "Gemm", {"parts", "two"}, "half");
  return model;
}

std::vector<Array> run_at(const Network& network, std::int64_t rate) {
  const std::vector<std::int64_t> rates{rate};
  const Array rate_input = make_array<std::int64_t>(DataType::int64, {}, rates);
  return evaluate(network, std::vector<Array>{floats({1, 4}, {100, 200, 300, 400}), rate_input});
}

TEST(Varying, a_branch_that_does_not_fit_is_refused_once_it_is_taken) {
  const Network network = with_rates().read();
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{1, 1}));
  EXPECT_EQ(numbers(run_at(network, 16)[0]), (std::vector<float>{30}));
  const std::string text = test::message_of([&] { run_at(network, 8); });
  EXPECT_NE(text.find("node 'choice/Gemm_0' (Gemm)"), std::string::npos) << text;
}

TEST(Varying, what_nobody_reads_of_two_branches_may_differ) {
  OnnxModel model = with_rates();
  auto& graph = *model.proto().mutable_graph();
  auto& choice = *graph.mutable_node(graph.node_size() - 1);
  choice.add_output("unread");
  for (auto& attribute : *choice.mutable_attribute())
    put_node(*attribute.mutable_g(), "Identity",
             {attribute.name() == "then_branch" ? "x" : "parts"}, "more_of_" + attribute.name());
  EXPECT_EQ(numbers(run_at(model.read(), 16)[0]), (std::vector<float>{30}));
}

TEST(Varying, an_input_that_is_fixed_decides_when_the_model_is_read) {
  const auto at_rate = [](const std::string& text) {
    ModelSource source;
    add_fixed(source, text, "--fix");
    return with_rates().read(source);
  };
  const Network network = at_rate("rate=16");
  ASSERT_EQ(network.inputs.size(), 1u);
  EXPECT_EQ(name_of(network.layers.at(0).op), "Gemm");
  EXPECT_EQ(numbers(run_on(network, {100, 200, 300, 400})[0]), (std::vector<float>{30}));
  const std::string text = test::message_of([&] { at_rate("rate=8"); });
  EXPECT_NE(text.find("node 'choice/Gemm_0' (Gemm)"), std::string::npos) << text;
}

/// The part is read anew for each frame, from memory.
TEST(Varying, weights_beside_the_model_come_into_the_part) {
  const test::TemporaryFolder folder;
  OnnxModel model = with_rates();
  auto& graph = *model.proto().mutable_graph();
  auto& then = *graph.mutable_node(graph.node_size() - 1)->mutable_attribute(0)->mutable_g();
  ::onnx::TensorProto& weight = *then.add_initializer();
  then.mutable_node(0)->set_input(1, "beside");
  weight.set_name("beside");
  weight.set_data_type(::onnx::TensorProto::FLOAT);
  weight.add_dims(4), weight.add_dims(1);
  weight.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto& location = *weight.add_external_data();
  location.set_key("location"), location.set_value("w.bin");
  const std::vector<float> values{1, 0, 0, 1};
  write_file(folder / "w.bin", {reinterpret_cast<const char*>(values.data()), 16});
  write_file(folder / "model.onnx", model.bytes());
  const Network network = read_network(folder / "model.onnx");
  std::filesystem::remove(folder / "w.bin");
  EXPECT_EQ(numbers(run_at(network, 16)[0]), (std::vector<float>{500}));
}

TEST(Varying, both_branches_must_be_known) {
  const std::string text = refusal_of(with_decision("Unheard"));
  EXPECT_NE(text.find("node 'choice/Unheard_0' (Unheard)"), std::string::npos) << text;
}

TEST(Varying, an_operator_that_is_missing_after_it_is_named) {
  OnnxModel model;
  model.input("x", {3}).output("y");
  model.node("NonZero", {"x"}, {"places"});
  model.node("Unheard", {"places"}, {"y"}).named("strange");
  EXPECT_NE(refusal_of(model).find("'Unheard'"), std::string::npos) << refusal_of(model);
}

}  // namespace
}  // namespace millrace::formats
