// Damaged models give a network or an InputError, nothing else.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/random.h"
#include "formats/read.h"
#include "support/onnx_model.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::OnnxModel;

/// A little of everything: windows, shapes that are computed, lists as attributes and inputs.
std::string small_model() {
  OnnxModel model(11);
  model.input("x", {1, 2, 6, 6}).weight("w", {4, 2, 3, 3}).weight("b", {4}).output("y");
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.weight(name, Shape{4});
  model.integers("wanted", {1, -1}).integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  model.node("Pad", {"x", "pads"}, {"padded"});
  model.node("Conv", {"padded", "w", "b"}, {"c"}).set_list("pads", {1, 1, 1, 1});
  model.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"n"});
  model.node("MaxPool", {"n"}, {"p"}).set_list("kernel_shape", {2, 2}).set_list("strides", {2, 2});
  model.node("Shape", {"p"}, {"shape"});
  model.node("ConstantOfShape", {"shape"}, {"zeros"});
  model.node("Add", {"p", "zeros"}, {"sum"});
  model.node("Split", {"sum"}, {"left", "right"}).set("axis", 1).set_list("split", {1, 3});
  model.node("Concat", {"left", "right"}, {"joined"}).set("axis", 1);
  model.node("Transpose", {"joined"}, {"turned"}).set_list("perm", {0, 2, 3, 1});
  model.node("Reshape", {"turned", "wanted"}, {"y"});
  return model.bytes();
}

::onnx::NodeProto& add_inner(::onnx::GraphProto& graph, const std::string& op_type,
                             const std::string& input, const std::string& output) {
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op_type);
  node.add_input(input);
  node.add_output(output);
  return node;
}

/// A loop of two rounds that adds `input` to what it carries.
void add_loop(OnnxModel& model, const std::string& input, const std::string& output) {
  auto node = model.node("Loop", {"two", "", input}, {output});
  auto* body = node.proto().add_attribute();
  body->set_name("body");
  body->set_type(::onnx::AttributeProto::GRAPH);
  ::onnx::GraphProto& graph = *body->mutable_g();
  for (const char* name : {"round", "goes", "carried"}) graph.add_input()->set_name(name);
  add_inner(graph, "Identity", "goes", "goes_on");
  add_inner(graph, "Add", "carried", "more").add_input(input);
  for (const char* name : {"goes_on", "more"}) graph.add_output()->set_name(name);
}

/// Indices, sequences, sums and a loop.
std::string model_of_today() {
  OnnxModel model(17);
  model.input("x", {2, 3, 4}).weight("w", {1, 8, 4}).weight("r", {1, 8, 2}).weight("s", {4});
  model.integers("two", {2}).integers("shape", {2, 2, 3, 4}).integers("axis", {2});
  model.weight("i", make_array<std::int64_t>(DataType::int64, {2, 3, 1},
                                             std::vector<std::int64_t>{0, 1, 2, 3, -1, -2}));
  model.output("y").output("picked").output("best").output("h");
  model.node("LayerNormalization", {"x", "s"}, {"n"}).set("axis", -1);
  model.node("Einsum", {"n", "x"}, {"e"}).set_text("equation", "bij,bkj->bik");
  model.node("ReduceSum", {"e", "axis"}, {"sums"});
  model.node("Expand", {"n", "shape"}, {"wide"});
  model.node("Greater", {"wide", "x"}, {"larger"});
  model.node("Where", {"larger", "wide", "sums"}, {"y"});
  model.node("GatherElements", {"x", "i"}, {"picked"}).set("axis", 2);
  model.node("TopK", {"n", "two"}, {"best", "places"}).set("axis", 2);
  add_loop(model, "n", "looped");
  model.node("LSTM", {"looped", "w", "r"}, {"h"}).set("hidden_size", 2);
  return model.bytes();
}

std::string damaged(const std::string& bytes, Random& random) {
  std::string result = bytes;
  if (random.below(4) == 0) result.resize(random.below(result.size() + 1));
  for (std::uint64_t i = random.below(8); i > 0 && !result.empty(); --i)
    result[random.below(result.size())] = static_cast<char>(random.below(256));
  return result;
}

void expect_networks_or_input_errors(const std::string& bytes) {
  ASSERT_NO_THROW(validate(read_onnx(bytes, "model.onnx", ".")));
  Random random(2026);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string wrong = damaged(bytes, random);
    try {
      validate(read_onnx(wrong, "model.onnx", "."));
      ++read;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 300);
}

TEST(DamagedModel, gives_a_network_or_an_input_error) {
  expect_networks_or_input_errors(small_model());
}

TEST(DamagedModel, of_inner_graphs_and_indices_gives_one_too) {
  expect_networks_or_input_errors(model_of_today());
}

}  // namespace
}  // namespace millrace::formats
