// Small files that ask for much memory or time.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "network/onnx/wrong.h"
#include "network/read.h"

namespace millrace::network {
namespace {

using test::floats;
using test::name_of_case;
using test::OnnxModel;
using test::Wrong;

/// An attribute that must be set further.
::onnx::AttributeProto& attribute_of(::onnx::NodeProto& node, const std::string& name) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  return *attribute;
}

::onnx::NodeProto& add_node(google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes,
                            const std::string& op_type, const std::string& input,
                            const std::string& output) {
  auto* node = nodes.Add();
  node->set_op_type(op_type);
  if (!input.empty()) node->add_input(input);
  node->add_output(output);
  return *node;
}

/// A function 'Own' from a to b, without nodes.
::onnx::FunctionProto& add_function(OnnxModel& model) {
  auto* function = model.proto().add_functions();
  function->set_name("Own");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("b");
  return *function;
}

Array mebibyte() { return floats(std::vector<float>(1 << 18)); }

/// Many nodes of the function use a large attribute of the call.
OnnxModel copied_attribute() {
  OnnxModel model(15);
  model.input("x", {2}).output("y");
  auto call = model.node("Own", {"x"}, {"y"}).named("call").set_tensor("large", mebibyte());
  call.proto().set_domain("own");
  auto& function = add_function(model);
  for (int i = 0; i < 400; ++i) {
    auto& node = add_node(*function.mutable_node(), "Constant", "", "c" + std::to_string(i));
    auto& value = attribute_of(node, "value");
    value.set_ref_attr_name("large");
    value.set_type(::onnx::AttributeProto::TENSOR);
  }
  add_node(*function.mutable_node(), "Neg", "a", "b");
  return model;
}

/// Two rounds of many nodes, which the file holds once.
OnnxModel many_nodes() {
  OnnxModel model;
  model.input("x", {2}).output("y").integers("count", {2});
  auto loop = model.node("Loop", {"count", "", "x"}, {"y"}).named("rounds");
  auto& attribute = attribute_of(loop.proto(), "body");
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  auto& body = *attribute.mutable_g();
  for (const char* name : {"round", "condition", "before"}) body.add_input()->set_name(name);
  add_node(*body.mutable_node(), "Identity", "condition", "goes_on");
  add_node(*body.mutable_node(), "Neg", "before", "after");
  for (int i = 0; i < 70000; ++i)
    add_node(*body.mutable_node(), "Neg", "before", "unused" + std::to_string(i));
  for (const char* name : {"goes_on", "after"}) body.add_output()->set_name(name);
  return model;
}

OnnxModel named(const std::string& node, const std::string& tensor) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.node("Neg", {"x"}, {tensor}).named(node);
  model.node("Abs", {tensor}, {"y"});
  return model;
}

std::vector<Wrong> bombs() {
  const std::string longest(4096, 'n'), too_long(4097, 'n');
  return {
      {"attribute_that_many_nodes_use",
       copied_attribute,
       {"node 'call' (Own)", "attributes of function calls", "256 MiB", "as inputs"}},
      {"loop_of_many_nodes", many_nodes, {"more than 131072 nodes", "fewer rounds"}},
      {"long_name_of_a_node",
       [=] { return named(too_long, "a"); },
       {"node 0 (Neg)", "'nnnn", "4097 bytes", "at most 4096"}},
      {"long_name_of_a_tensor",
       [=] { return named(longest, too_long); },
       {"node 0 (Neg)", "4097 bytes", "at most 4096"}},
  };
}

class Bomb : public testing::TestWithParam<Wrong> {};

TEST_P(Bomb, is_refused_in_one_sentence) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, Bomb, testing::ValuesIn(bombs()), name_of_case);

TEST(Bombs, names_may_be_long) {
  EXPECT_EQ(named(std::string(4096, 'n'), std::string(4096, 't')).read().layers.size(), 2u);
}

/// Else they would count as copies of attributes.
TEST(Bombs, constants_of_functions_are_not_copied_with_each_call) {
  OnnxModel model(15);
  model.input("x0", {2}).output("x400");
  for (int i = 0; i < 400; ++i) {
    const std::string in = "x" + std::to_string(i), out = "x" + std::to_string(i + 1);
    model.node("Own", {in}, {out}).set_number("slope", 0.5f).proto().set_domain("own");
  }
  auto& function = add_function(model);
  OnnxModel other;
  other.node("Constant", {}, {"unused"}).set_tensor("value", mebibyte());
  *function.add_node() = other.proto().graph().node(0);
  auto& slope = attribute_of(add_node(*function.mutable_node(), "LeakyRelu", "a", "b"), "alpha");
  slope.set_ref_attr_name("slope");
  slope.set_type(::onnx::AttributeProto::FLOAT);
  EXPECT_EQ(model.read().layers.size(), 400u);
}

/// The counted steps of one of them are most of what may be spent; few are really taken.
TEST(Bombs, reading_and_simplifying_have_one_budget) {
  OnnxModel model(16);
  model.weight("images", {1, 1, 4, 4}).integers("image", {0});
  model.weight("boxes", floats({1, 4}, {0, 0, 3, 3}));
  for (const std::string output : {"y", "z"}) {
    model.output(output);
    model.node("RoiAlign", {"images", "boxes", "image"}, {output})
        .set("output_height", 30)
        .set("output_width", 50);
  }
  EXPECT_EQ(model.read().layers.size(), 1u);
}

TEST(Bombs, sorting_for_seconds_is_left_to_the_engine) {
  OnnxModel model;
  model.integers("length", {12'000'000}).integers("count", {1}).output("best");
  model.node("ConstantOfShape", {"length"}, {"numbers"});
  model.node("TopK", {"numbers", "count"}, {"best", ""});
  EXPECT_EQ(model.read().layers.size(), 1u);
}

}  // namespace
}  // namespace millrace::network
