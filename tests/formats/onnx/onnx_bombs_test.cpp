// Small files that ask for much memory or time.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "formats/onnx/wrong.h"
#include "formats/read.h"

namespace millrace::formats {

using namespace network;
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

/// Rounds of a loop and of a loop in it.
struct Rounds {
  std::int64_t outer = 1, inner = 1;
};

::onnx::GraphProto& add_loop(google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes,
                             const std::string& name, const std::string& from,
                             const std::string& to) {
  ::onnx::NodeProto& loop = add_node(nodes, "Loop", name + "_count", to);
  loop.set_name(name);
  loop.add_input("");
  loop.add_input(from);
  auto& attribute = attribute_of(loop, "body");
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  auto& body = *attribute.mutable_g();
  for (const std::string part : {"_round", "_condition", "_before"})
    body.add_input()->set_name(name + part);
  add_node(*body.mutable_node(), "Identity", name + "_condition", name + "_goes_on");
  for (const std::string part : {"_goes_on", "_after"}) body.add_output()->set_name(name + part);
  return body;
}

/// Each round of the inner one makes two layers.
OnnxModel nested_loops(const Rounds& rounds) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  model.integers("outer_count", {rounds.outer}).integers("inner_count", {rounds.inner});
  auto& outer = add_loop(*model.proto().mutable_graph()->mutable_node(), "outer", "x", "y");
  auto& inner = add_loop(*outer.mutable_node(), "inner", "outer_before", "outer_after");
  add_node(*inner.mutable_node(), "Neg", "inner_before", "middle");
  add_node(*inner.mutable_node(), "Abs", "middle", "inner_after");
  return model;
}

/// 14 loops of two rounds, each in the round of the one before.
OnnxModel doubling_loops() {
  OnnxModel model;
  model.input("x", {2}).output("y");
  auto* nodes = model.proto().mutable_graph()->mutable_node();
  std::string from = "x", to = "y";
  for (int i = 0; i < 14; ++i) {
    const std::string name = "loop" + std::to_string(i);
    model.integers(name + "_count", {2});
    auto& body = add_loop(*nodes, name, from, to);
    nodes = body.mutable_node();
    from = name + "_before";
    to = name + "_after";
  }
  add_node(*nodes, "Neg", from, to);
  return model;
}

/// Each round uses an operator that nobody knows.
OnnxModel unknown_in_each_round() {
  OnnxModel model;
  model.input("x", {2}).output("y").integers("outer_count", {1 << 14});
  auto& body = add_loop(*model.proto().mutable_graph()->mutable_node(), "outer", "x", "y");
  add_node(*body.mutable_node(), "Unknown", "x", "outer_after");
  return model;
}

/// The first round begins with a constant, the others with what was computed.
OnnxModel constant_at_first(std::int64_t rounds) {
  OnnxModel model;
  model.input("x", {2}).output("y").integers("outer_count", {rounds});
  model.weight("start", floats({2}, {1, 2}));
  auto& body = add_loop(*model.proto().mutable_graph()->mutable_node(), "outer", "start", "y");
  add_node(*body.mutable_node(), "Add", "outer_before", "outer_after").add_input("x");
  return model;
}

/// Ends after two rounds, as a loop of all rounds could not.
OnnxModel ends_early() {
  OnnxModel model;
  model.input("x", {2}).output("y").integers("outer_count", {1 << 14}).integers("last", {1});
  auto& body = add_loop(*model.proto().mutable_graph()->mutable_node(), "outer", "x", "y");
  body.mutable_node()->Clear();
  add_node(*body.mutable_node(), "Neg", "outer_before", "outer_after");
  add_node(*body.mutable_node(), "Less", "outer_round", "outer_goes_on").add_input("last");
  return model;
}

/// A loop that makes no layer, and joins a row of each round.
OnnxModel rows_of_rounds(std::int64_t rounds) {
  OnnxModel model;
  model.input("x", {2}).output("y").output("rows").integers("outer_count", {rounds});
  auto& nodes = *model.proto().mutable_graph()->mutable_node();
  auto& body = add_loop(nodes, "outer", "x", "y");
  nodes.Mutable(0)->add_output("rows");
  add_node(*body.mutable_node(), "Identity", "outer_before", "outer_after");
  body.add_output()->set_name("x");
  return model;
}

/// Each of 16 functions calls the next one twice.
OnnxModel doubling_functions() {
  OnnxModel model(15);
  model.input("x", {2}).output("y");
  model.node("Own0", {"x"}, {"y"}).named("call").proto().set_domain("own");
  for (int i = 0; i < 16; ++i) {
    auto& function = add_function(model);
    function.set_name("Own" + std::to_string(i));
    const std::string next = i < 15 ? "Own" + std::to_string(i + 1) : "Neg";
    for (const auto& [from, to] : {std::pair{"a", "m"}, std::pair{"m", "b"}})
      add_node(*function.mutable_node(), next, from, to).set_domain(i < 15 ? "own" : "");
  }
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
      {"loop_of_many_layers",
       [] { return nested_loops({.inner = 1 << 14}); },
       {"'outer/0/inner' (Loop): unrolls to 16384 rounds", "32768 layers", "at most 8192",
        "fewer rounds"}},
      {"loop_in_a_loop",
       [] { return nested_loops({.outer = 128, .inner = 128}); },
       {"'outer' (Loop): unrolls to 128 rounds", "32768 layers", "at most 8192 can be planned"}},
      {"loops_that_double",
       doubling_loops,
       {"'loop0' (Loop): unrolls to 2 rounds", "16384 layers", "at most 8192"}},
      {"loop_of_more_and_more",
       [] { return constant_at_first(1 << 14); },
       {"'outer' (Loop): unrolls to 16384 rounds", "16384 layers"}},
      {"unknown_operator_in_each_round",
       unknown_in_each_round,
       {"(Unknown)", "the operator 'Unknown' is not supported"}},
      {"loop_of_many_rows",
       [] { return rows_of_rounds(1 << 14); },
       {"'outer' (Loop): has unrolled 8193 rounds", "8193 layers"}},
      {"functions_that_double",
       doubling_functions,
       {"calls the function 'Own", "at most 8320 can be planned", "fewer rounds or calls"}},
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

TEST(Bombs, loops_of_some_thousand_layers_are_unrolled) {
  EXPECT_EQ(nested_loops({.outer = 64, .inner = 64}).read().layers.size(), 8192u);
}

TEST(Bombs, loops_that_end_early_are_unrolled) {
  EXPECT_EQ(ends_early().read().layers.size(), 2u);
}

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
}  // namespace millrace::formats
