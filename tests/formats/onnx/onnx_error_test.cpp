// Wrong models, and the words that the message about each must have.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <functional>

#include "base/error.h"
#include "formats/onnx/wrong.h"
#include "formats/read.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::floats;
using test::name_of_case;
using test::OnnxModel;
using test::Wrong;

OnnxModel conv_model(std::int64_t opset = 13) {
  OnnxModel model(opset);
  model.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3}).output("y");
  model.node("Conv", {"x", "w"}, {"y"}).named("conv1");
  return model;
}

OnnxModel one_node(const std::string& op_type, std::int64_t opset = 13) {
  OnnxModel model(opset);
  model.input("x", {1, 4, 6, 6}).output("y");
  model.node(op_type, {"x"}, {"y"}).named("n");
  return model;
}

OnnxModel with_weight(const Array& weight) {
  OnnxModel model;
  model.input("x", {1, 3, 8, 8}).weight("w", weight).output("y");
  model.node("Conv", {"x", "w"}, {"y"}).named("conv1");
  return model;
}

OnnxModel changed(OnnxModel model, const std::function<void(::onnx::ModelProto&)>& change) {
  change(model.proto());
  return model;
}

OnnxModel with_attribute(const std::string& op_type,
                         const std::function<void(test::OnnxNode&)>& change) {
  OnnxModel model = one_node(op_type);
  test::OnnxNode node(*model.proto().mutable_graph()->mutable_node(0));
  change(node);
  return model;
}

OnnxModel cycle() {
  OnnxModel model;
  model.input("x", {4}).output("c");
  model.node("Add", {"x", "c"}, {"a"}).named("first");
  model.node("Relu", {"a"}, {"b"}).named("second");
  model.node("Exp", {"b"}, {"c"}).named("third");
  return model;
}

OnnxModel two_inputs(const std::string& op_type, const Shape& a, const Shape& b) {
  OnnxModel model;
  model.input("x", a).input("z", b).output("y");
  model.node(op_type, {"x", "z"}, {"y"}).named("n");
  return model;
}

OnnxModel with_shape(const std::string& op_type, const std::vector<std::int64_t>& values) {
  OnnxModel model;
  model.input("x", {2, 3, 4}).integers("s", values).output("y");
  model.node(op_type, {"x", "s"}, {"y"}).named("n");
  return model;
}

OnnxModel shape_from_input() {
  OnnxModel model;
  model.input("x", {2, 3}).input("s", {1}, DataType::int64).output("y");
  model.node("Reshape", {"x", "s"}, {"y"}).named("n");
  return model;
}

OnnxModel constant_of_shape(const std::vector<std::int64_t>& shape) {
  OnnxModel model;
  model.integers("s", shape).output("y");
  model.node("ConstantOfShape", {"s"}, {"y"}).named("n");
  return model;
}

OnnxModel gather(const std::vector<std::int64_t>& indices) {
  OnnxModel model;
  model.input("x", {3, 2}).integers("i", indices).output("y");
  model.node("Gather", {"x", "i"}, {"y"}).named("n");
  return model;
}

OnnxModel batch_normalization(const std::function<void(test::OnnxNode&)>& change) {
  OnnxModel model(14);
  model.input("x", {1, 2, 3}).weight("s", {2}).weight("b", {2}).weight("m", {2}).weight("v", {2});
  model.output("y");
  auto node = model.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}).named("bn");
  change(node);
  return model;
}

std::vector<Wrong> wrong_files() {
  return {
      {"no_graph",
       [] { return changed(conv_model(), [](auto& m) { m.clear_graph(); }); },
       {"not an ONNX model", "truncated"}},
      {"opset_6", [] { return conv_model(6); }, {"opset 6", "7 to 25"}},
      {"opset_26", [] { return conv_model(26); }, {"opset 26", "7 to 25"}},
      {"no_opset",
       [] { return changed(conv_model(), [](auto& m) { m.clear_opset_import(); }); },
       {"opset 1"}},
      {"cycle", cycle, {"cycle", "own result", "node '"}},
      {"unknown_operator",
       [] { return one_node("Reluu"); },
       {"node 'n'", "operator 'Reluu' is not supported", "nearest known is Relu"}},
      {"foreign_operator",
       [] {
         return changed(one_node("Relu"), [](auto& m) {
           m.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
         });
       },
       {"com.microsoft.Relu", "not supported"}},
      {"unknown_attribute",
       [] { return with_attribute("MaxPool", [](auto& n) { n.set("kernel_shap", 3); }); },
       {"node 'n' (MaxPool)", "unknown attribute 'kernel_shap'", "'kernel_shape'"}},
      {"mistyped_attribute",
       [] { return with_attribute("Softmax", [](auto& n) { n.set_number("axis", 1); }); },
       {"attribute 'axis' is a number, expected an integer"}},
      {"missing_attribute", [] { return one_node("MaxPool"); }, {"'kernel_shape' is missing"}},
      {"too_many_inputs",
       [] { return two_inputs("Relu", {2}, {2}); },
       {"has 2 inputs, expected 1"}},
  };
}

std::vector<Wrong> wrong_graphs() {
  return {
      {"missing_output",
       [] {
         return changed(conv_model(),
                        [](auto& m) { m.mutable_graph()->mutable_output(0)->set_name("z"); });
       },
       {"output 'z'", "incomplete"}},
      {"no_outputs",
       [] { return changed(conv_model(), [](auto& m) { m.mutable_graph()->clear_output(); }); },
       {"no outputs"}},
      {"value_made_twice",
       [] {
         OnnxModel model = conv_model();
         model.node("Relu", {"x"}, {"y"}).named("again");
         return model;
       },
       {"'again'", "makes 'y'", "already made"}},
      {"sequence_input",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
         });
       },
       {"input 'x'", "not a tensor"}},
      {"input_of_strings",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()
               ->mutable_input(0)
               ->mutable_type()
               ->mutable_tensor_type()
               ->set_elem_type(8);
         });
       },
       {"input 'x'", "type string", "float32"}},
      {"training_outputs",
       [] {
         OnnxModel model = batch_normalization([](auto& n) { n.proto().add_output("mean"); });
         return std::move(model.output("mean"));
       },
       {"node 'bn'", "only in training"}},
  };
}

std::vector<Wrong> wrong_weights() {
  return {
      {"missing_weight",
       [] {
         return changed(conv_model(), [](auto& m) { m.mutable_graph()->clear_initializer(); });
       },
       {"node 'conv1'", "reads 'w'", "incomplete"}},
      {"weight_without_data",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()->mutable_initializer(0)->clear_raw_data();
         });
       },
       {"weight 'w'", "0 values", "asks for 108"}},
      {"short_weight",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()->mutable_initializer(0)->set_raw_data("abcd");
         });
       },
       {"weight 'w'", "4 bytes", "432"}},
      {"weight_of_8_bit_floats",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()->mutable_initializer(0)->set_data_type(17);
         });
       },
       {"weight 'w'", "float8e4m3fn", "expected one of float32"}},
      {"weight_with_three_dimensions",
       [] {
         return with_weight(floats({4, 3, 3}, std::vector<float>(36)));
       },
       {"node 'conv1' (Conv)", "weight 'w' has shape 4x3x3", "expected 4 dimensions"}},
      {"weight_for_other_channels",
       [] {
         return with_weight(floats({4, 2, 3, 3}, std::vector<float>(72)));
       },
       {"weight 'w' has shape 4x2x3x3", "3 channels"}},
      {"mistyped_weight",
       [] {
         const std::vector<std::int32_t> values(108);
         return with_weight(make_array<std::int32_t>(DataType::int32, {4, 3, 3, 3}, values));
       },
       {"input 'w' has type int32, expected float32"}},
  };
}

std::vector<Wrong> wrong_sizes() {
  return {
      {"huge_weight",
       [] {
         return changed(conv_model(), [](auto& m) {
           auto& dims = *m.mutable_graph()->mutable_initializer(0)->mutable_dims();
           for (auto& size : dims) size = std::int64_t{1} << 60;
         });
       },
       {"weight 'w'", "2^40 elements"}},
      {"negative_weight",
       [] {
         return changed(conv_model(), [](auto& m) {
           m.mutable_graph()->mutable_initializer(0)->set_dims(0, -4);
         });
       },
       {"weight 'w'", "-4", "impossible"}},
      {"huge_input",
       [] {
         OnnxModel model;
         model.input("x", {std::int64_t{1} << 62, 4, 0}).output("y");
         model.node("Relu", {"x"}, {"y"});
         return model;
       },
       {"input 'x'", "2^40 elements"}},
      {"many_dimensions",
       [] {
         OnnxModel model;
         model.input("x", Shape(100, 1)).output("y");
         model.node("Relu", {"x"}, {"y"});
         return model;
       },
       {"input 'x'", "100 dimensions"}},
      {"sparse_weight",
       [] {
         return changed(conv_model(), [](auto& m) { m.mutable_graph()->add_sparse_initializer(); });
       },
       {"sparse"}},
      {"huge_constant",
       [] {
         return constant_of_shape({1 << 20, 1 << 16});
       },
       {"node 'n'", "2^31 - 1 bytes"}},
      {"negative_constant", [] { return constant_of_shape({-1}); }, {"node 'n'", "impossible"}},
  };
}

std::vector<Wrong> wrong_shapes() {
  return {
      {"open_dimension",
       [] {
         OnnxModel model;
         model.input("x", {-1, 4}).output("y");
         model.node("Relu", {"x"}, {"y"});
         return model;
       },
       {"input 'x'", "?x4", "⟨shape⟩ x=1x4"}},
      {"shape_from_input", shape_from_input, {"node 'n' (Reshape)", "'s'", "known when the model"}},
      {"shapes_that_do_not_broadcast",
       [] {
         return two_inputs("Add", {2, 3}, {2, 4});
       },
       {"node 'n' (Add)", "2x3 and 2x4", "broadcast"}},
      {"matrices_that_do_not_fit",
       [] {
         return two_inputs("MatMul", {2, 3}, {4, 5});
       },
       {"3 columns meet 4 rows"}},
      {"gemm_of_vectors",
       [] {
         return two_inputs("Gemm", {2}, {2, 5});
       },
       {"two matrices"}},
      {"reshape_to_other_size",
       [] {
         return with_shape("Reshape", {5, 5});
       },
       {"new shape 5x5", "24 elements"}},
      {"reshape_with_two_open",
       [] {
         return with_shape("Reshape", {-1, -1});
       },
       {"not one for"}},
      {"reshape_that_overflows",
       [] {
         return with_shape("Reshape", {-1, 1LL << 62, 1LL << 62});
       },
       {"2^40 elements"}},
      {"squeeze_of_a_size", [] { return with_shape("Squeeze", {1}); }, {"not 1"}},
      {"axis_outside", [] { return with_shape("Unsqueeze", {7}); }, {"axis 7"}},
      {"axis_twice",
       [] {
         return with_shape("Unsqueeze", {0, 0});
       },
       {"twice"}},
      {"index_outside", [] { return gather({3}); }, {"index 3", "dimension of 3"}},
  };
}

std::vector<Wrong> wrong_windows() {
  return {
      {"kernel_beyond_input",
       [] {
         return with_attribute("MaxPool", [](auto& n) { n.set_list("kernel_shape", {9, 9}); });
       },
       {"window", "9", "6"}},
      {"huge_kernel",
       [] {
         return with_attribute("MaxPool", [](auto& n) {
           n.set_list("kernel_shape", {1LL << 62, 1});
         });
       },
       {"'kernel_shape'"}},
      {"zero_stride",
       [] {
         return with_attribute("MaxPool", [](auto& n) {
           n.set_list("kernel_shape", {2, 2}).set_list("strides", {0, 1});
         });
       },
       {"'strides' contains 0"}},
      {"bad_auto_pad",
       [] {
         return with_attribute("MaxPool", [](auto& n) {
           n.set_list("kernel_shape", {2, 2}).set_text("auto_pad", "SAME");
         });
       },
       {"'auto_pad' is 'SAME'", "SAME_UPPER"}},
      {"bad_permutation",
       [] {
         return with_attribute("Transpose", [](auto& n) { n.set_list("perm", {0, 1, 1, 2}); });
       },
       {"'perm'"}},
      {"attribute_that_became_an_input",
       [] { return with_attribute("Squeeze", [](auto& n) { n.set_list("axes", {0}); }); },
       {"'axes'", "since opset 13"}},
      {"cast_to_strings",
       [] { return with_attribute("Cast", [](auto& n) { n.set("to", 8); }); },
       {"string"}},
  };
}

class WrongModel : public testing::TestWithParam<Wrong> {};

TEST_P(WrongModel, is_refused_in_one_sentence) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, WrongModel, testing::ValuesIn(wrong_files()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Graphs, WrongModel, testing::ValuesIn(wrong_graphs()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Sizes, WrongModel, testing::ValuesIn(wrong_sizes()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Windows, WrongModel, testing::ValuesIn(wrong_windows()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Weights, WrongModel, testing::ValuesIn(wrong_weights()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Shapes, WrongModel, testing::ValuesIn(wrong_shapes()), name_of_case);

}  // namespace
}  // namespace millrace::formats
