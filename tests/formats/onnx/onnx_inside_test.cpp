// Graphs inside of nodes, functions, and what no output needs.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <functional>
#include <set>

#include "base/error.h"
#include "formats/onnx/wrong.h"
#include "formats/read.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::name_of_case;
using test::OnnxModel;
using test::Wrong;

Array truth(bool value) {
  const std::vector<std::uint8_t> bytes{static_cast<std::uint8_t>(value)};
  return make_array<std::uint8_t>(DataType::boolean, {}, bytes);
}

/// An empty graph as an attribute of the node that was added last.
::onnx::GraphProto& graph_of(OnnxModel& model, const std::string& name) {
  auto& graph = *model.proto().mutable_graph();
  auto* attribute = graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(::onnx::AttributeProto::GRAPH);
  return *attribute->mutable_g();
}

void add_node(::onnx::GraphProto& graph, const std::string& op_type,
              const std::vector<std::string>& inputs, const std::string& output) {
  auto* node = graph.add_node();
  node->set_op_type(op_type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
}

OnnxModel with_if(bool known, bool taken = true) {
  OnnxModel model;
  model.input("x", {2}).output("y");
  if (known)
    model.weight("c", truth(taken));
  else
    model.input("c", {}, DataType::boolean);
  model.node("If", {"c"}, {"y"}).named("choice");
  auto& then = graph_of(model, "then_branch");
  add_node(then, "Neg", {"x"}, "negative");
  then.add_output()->set_name("negative");
  auto& otherwise = graph_of(model, "else_branch");
  add_node(otherwise, "Unheard", {"x"}, "other");
  otherwise.add_output()->set_name("other");
  return model;
}

/// Adds x to the sum in every round, and joins all sums.
OnnxModel with_loop(std::int64_t rounds) {
  OnnxModel model;
  model.input("x", {2}).output("sum").output("all");
  const std::vector<std::int64_t> count{rounds};
  model.weight("count", make_array<std::int64_t>(DataType::int64, {}, count));
  model.weight("zero", floats({0, 0}));
  model.node("Loop", {"count", "", "zero"}, {"sum", "all"}).named("rounds");
  auto& body = graph_of(model, "body");
  for (const char* name : {"round", "condition", "before"}) body.add_input()->set_name(name);
  add_node(body, "Identity", {"condition"}, "goes_on");
  add_node(body, "Add", {"before", "x"}, "after");
  for (const char* name : {"goes_on", "after", "after"}) body.add_output()->set_name(name);
  return model;
}

std::vector<Array> run(const OnnxModel& model, const std::vector<float>& x) {
  return evaluate(model.read(), std::vector<Array>{floats(x)});
}

std::vector<float> values_of(const Array& array) {
  const auto values = array.values<float>();
  return {values.begin(), values.end()};
}

TEST(InnerGraphs, the_branch_of_a_known_condition_takes_the_place_of_the_node) {
  EXPECT_EQ(values_of(run(with_if(true), {1, -2})[0]), (std::vector<float>{-1, 2}));
}

TEST(InnerGraphs, the_rounds_of_a_loop_follow_each_other) {
  const std::vector<Array> results = run(with_loop(3), {1, 2});
  EXPECT_EQ(values_of(results[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(results[1].shape, (Shape{3, 2}));
  EXPECT_EQ(values_of(results[1]), (std::vector<float>{1, 2, 2, 4, 3, 6}));
}

TEST(InnerGraphs, names_of_unrolled_layers_and_tensors_differ) {
  const Network network = with_loop(5).read();
  validate(network);
  std::set<std::string> names;
  for (const Tensor& tensor : network.tensors) EXPECT_TRUE(names.insert(tensor.name).second);
}

TEST(InnerGraphs, a_function_of_the_model_is_read_in_the_place_of_its_call) {
  OnnxModel model(15);
  model.input("x", {2}).output("y");
  model.node("Twice", {"x"}, {"y"}).named("call").proto().set_domain("own");
  auto* function = model.proto().add_functions();
  function->set_name("Twice");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("b");
  auto* node = function->add_node();
  node->set_op_type("Add");
  node->add_input("a");
  node->add_input("a");
  node->add_output("b");
  EXPECT_EQ(values_of(run(model, {1, 2})[0]), (std::vector<float>{2, 4}));
}

/// Field 13 of functions and 8 of nodes, which schemas before IR version 10 do not have.
TEST(InnerGraphs, of_functions_with_one_name_the_call_says_which) {
  const auto set_overload = [](google::protobuf::Message& message, int field,
                               const std::string& text) {
    std::string bytes = message.SerializeAsString();
    bytes += {static_cast<char>(field << 3 | 2), static_cast<char>(text.size())};
    ASSERT_TRUE(message.ParseFromString(bytes + text));
  };
  OnnxModel model(21);
  model.input("x", {2}).output("y");
  auto& call = model.node("Own", {"x"}, {"y"}).named("call").proto();
  call.set_domain("own");
  set_overload(call, 8, "two");
  for (const auto& [overload, type] :
       {std::pair{"one", "Abs"}, std::pair{"two", "Neg"}, std::pair{"", "Relu"}}) {
    auto* function = model.proto().add_functions();
    function->set_name("Own");
    function->set_domain("own");
    function->add_input("a");
    function->add_output("b");
    auto* node = function->add_node();
    node->set_op_type(type);
    node->add_input("a");
    node->add_output("b");
    set_overload(*function, 13, overload);
  }
  EXPECT_EQ(values_of(run(model, {1, -2})[0]), (std::vector<float>{-1, 2}));
}

/// The size that the graph declares for its own tensor of that name is another.
TEST(InnerGraphs, a_name_in_a_function_is_not_that_of_the_graph) {
  OnnxModel model(15);
  model.input("x", {1, 1, 1, 4}).output("y");
  auto* declared = model.proto().mutable_graph()->add_value_info();
  declared->set_name("r");
  auto* type = declared->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  for (const int size : {1, 1, 1, 6}) type->mutable_shape()->add_dim()->set_dim_value(size);
  model.node("Own", {"x"}, {"y"}).named("call").proto().set_domain("own");
  auto* function = model.proto().add_functions();
  function->set_name("Own");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("r");
  auto* scales = function->add_node();
  scales->set_op_type("Constant");
  scales->add_output("s");
  auto* value = scales->add_attribute();
  value->set_name("value_floats");
  value->set_type(::onnx::AttributeProto::FLOATS);
  for (const float scale : {1.f, 1.f, 1.f, 1.4f}) value->add_floats(scale);
  auto* node = function->add_node();
  node->set_op_type("Resize");
  for (const char* input : {"a", "", "s"}) node->add_input(input);
  node->add_output("r");
  const Network network = model.read();
  EXPECT_EQ(network[network.outputs[0]].shape, (Shape{1, 1, 1, 5}));
}

TEST(InnerGraphs, what_no_output_needs_is_not_refused) {
  OnnxModel model;
  model.input("x", {2}).output("y").weight("w", {3});
  model.proto().mutable_graph()->mutable_initializer(0)->set_data_type(17);  // float8e4m3fn
  model.node("Unheard", {"x", "w"}, {"z"}).named("unused");
  model.node("Neg", {"x"}, {"y"}).named("used");
  EXPECT_EQ(values_of(run(model, {1, 2})[0]), (std::vector<float>{-1, -2}));
}

OnnxModel with_unknown_operators() {
  OnnxModel model;
  model.input("x", {2}).output("y").output("z");
  model.node("Unheard", {"x"}, {"a"}).named("first");
  model.node("Unheard", {"a"}, {"b"}).named("second");
  model.node("Strange", {"b"}, {"y"}).named("third");
  model.node("Neg", {"b"}, {"z"}).named("fourth");
  return model;
}

OnnxModel recursive() {
  OnnxModel model(15);
  model.input("x", {2}).output("y");
  model.node("Again", {"x"}, {"y"}).named("call").proto().set_domain("own");
  auto* function = model.proto().add_functions();
  function->set_name("Again");
  function->set_domain("own");
  function->add_input("a");
  function->add_output("b");
  auto* node = function->add_node();
  node->set_op_type("Again");
  node->set_domain("own");
  node->add_input("a");
  node->add_output("b");
  return model;
}

OnnxModel one(const std::string& op_type, const std::vector<std::string>& inputs,
              const std::function<void(OnnxModel&, test::OnnxNode&)>& change) {
  OnnxModel model(20);
  model.input("x", {2, 3}).output("y");
  test::OnnxNode node = model.node(op_type, inputs, {"y"}).named("n");
  change(model, node);
  return model;
}

std::vector<Wrong> undecided() {
  return {
      {"if_that_depends_on_an_input_with_an_unknown_operator",
       [] { return with_if(false); },
       {"node 'choice/Unheard_0' (Unheard)", "not supported"}},
      {"if_with_an_unknown_operator_in_the_branch_taken",
       [] { return with_if(true, false); },
       {"node 'choice/Unheard_0' (Unheard)", "not supported"}},
      {"loop_with_many_rounds",
       [] { return with_loop(1 << 20); },
       {"node 'rounds' (Loop)", "16384 rounds"}},
      {"function_that_calls_itself",
       recursive,
       {"node 'call/Again_0' (Again)", "the function 'Again' calls itself"}},
      {"several_unknown_operators",
       with_unknown_operators,
       {"3 layers have operators that no engine", "'Unheard' (2 layers, the first is 'first')",
        "'Strange' (1 layer, 'third')", "docs/methods/operators.md"}},
  };
}

std::vector<Wrong> wrong_operators() {
  const auto nothing = [](OnnxModel&, test::OnnxNode&) {};
  return {
      {"where_of_numbers",
       [=] {
         return one("Where", {"x", "x", "x"}, nothing);
       },
       {"'x' has type float32, expected boolean"}},
      {"expand_to_a_shape_that_does_not_fit",
       [] {
         return one("Expand", {"x", "s"}, [](auto& m, auto&) { m.integers("s", {4}); });
       },
       {"2x3", "cannot be expanded to 4"}},
      {"expand_to_a_computed_shape",
       [] {
         return one("Expand", {"x", "s"},
                    [](auto& m, auto&) { m.input("s", {1}, DataType::int64); });
       },
       {"the shape ('s')", "known when the model is read"}},
      {"pads_that_crop_more_than_there_is",
       [] {
         return one("Pad", {"x", "p"}, [](auto& m, auto&) { m.integers("p", {-1, 0, -2, 0}); });
       },
       {"dimension 0 of the input 2x3", "-1 and -2", "would have -1 elements; check the pads"}},
      {"top_k_of_too_many",
       [] {
         return one("TopK", {"x", "k"}, [](auto& m, auto&) { m.integers("k", {4}); });
       },
       {"the 4 best of 3 values"}},
      {"gather_outside",
       [] {
         return one("GatherND", {"x", "i"}, [](auto& m, auto&) { m.integers("i", {5}); });
       },
       {"index 5", "dimension of 2"}},
  };
}

std::vector<Wrong> wrong_sums() {
  const auto nothing = [](OnnxModel&, test::OnnxNode&) {};
  return {
      {"groups_that_do_not_fit",
       [] {
         return one("GroupNormalization", {"x", "s", "s"}, [](auto& m, auto& n) {
           m.weight("s", {2});
           n.set("num_groups", 2);
         });
       },
       {"3 channels", "2 groups"}},
      {"einsum_of_other_dimensions",
       [] {
         return one("Einsum", {"x"}, [](auto&, auto& n) { n.set_text("equation", "ijk->i"); });
       },
       {"'ijk->i'", "does not fit the 2 dimensions"}},
      {"einsum_with_a_lost_ellipsis",
       [] {
         return one("Einsum", {"x"}, [](auto&, auto& n) { n.set_text("equation", "i..->i"); });
       },
       {"'i..->i'", "one ellipsis"}},
      {"gelu_of_another_form",
       [] { return one("Gelu", {"x"}, [](auto&, auto& n) { n.set_text("approximate", "erf"); }); },
       {"'approximate' is 'erf'", "none or tanh"}},
      {"lstm_of_a_matrix",
       [=] {
         return one("LSTM", {"x", "x", "x"}, nothing);
       },
       {"2x3", "three dimensions"}},
      {"boxes_of_another_shape",
       [=] {
         return one("NonMaxSuppression", {"x", "x"}, nothing);
       },
       {"the boxes are 2x3"}},
      {"endless_range",
       [] {
         return one("Range", {"a", "a", "a"}, [](auto& m, auto&) { m.integers("a", {0}); });
       },
       {"has no end"}},
  };
}

class WrongInside : public testing::TestWithParam<Wrong> {};

TEST_P(WrongInside, is_refused_in_one_sentence) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Undecided, WrongInside, testing::ValuesIn(undecided()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Sums, WrongInside, testing::ValuesIn(wrong_sums()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Operators, WrongInside, testing::ValuesIn(wrong_operators()),
                         name_of_case);

}  // namespace
}  // namespace millrace::formats
