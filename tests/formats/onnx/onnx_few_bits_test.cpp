// Weights of few bits in files: what is said about wrong ones. Right ones: quantised_cases.
#include <gtest/gtest.h>

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

constexpr int bfloat16 = 16, int4 = 22;  // ONNX's numbers

/// A weight 'w' of 3x2 numbers of that type, in these bytes.
OnnxModel product(int type, const std::string& bytes, const std::string& op = "MatMul") {
  OnnxModel model(21);
  model.input("x", {5, 3}).weight("w", {3, 2}).output("y");
  ::onnx::TensorProto& weight = *model.proto().mutable_graph()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_data_type(type);
  weight.set_raw_data(bytes);
  model.node(op, {"x", "w"}, {"y"}).named("m");
  return model;
}

/// Quantises to a zero point of 4 bits.
OnnxModel quantised_to_four_bits() {
  OnnxModel model(21);
  model.input("x", {2, 3}).weight("w", {1}).weight("s", floats({1})).output("y");
  ::onnx::TensorProto& zero = *model.proto().mutable_graph()->mutable_initializer(0);
  zero.clear_float_data();
  zero.set_data_type(int4);
  zero.set_raw_data("a");
  model.node("QuantizeLinear", {"x", "s", "w"}, {"q"}).named("m");
  model.node("DequantizeLinear", {"q", "s", "w"}, {"y"}).named("d");
  return model;
}

Array bytes_of(const Shape& shape) {
  return make_array(DataType::uint8, shape, Buffer(Bytes{element_count(shape)}));
}

/// 3 rows and 2 columns in blocks of 2; an input or an attribute is another than it should be.
OnnxModel in_blocks(const std::string& input, const Array& value,
                    std::map<std::string, std::int64_t> attributes = {}) {
  const std::map<std::string, Array> right{
      {"w", bytes_of({2, 2, 1})}, {"s", floats({1, 2, 3, 4})}, {"z", bytes_of({2})}};
  OnnxModel model;
  model.input("x", {5, 3}).output("y");
  for (const auto& [name, array] : right) model.weight(name, name == input ? value : array);
  auto node = model.node("MatMulNBits", {"x", "w", "s", "z"}, {"y"}).named("m");
  attributes.merge(
      std::map<std::string, std::int64_t>{{"K", 3}, {"N", 2}, {"block_size", 2}, {"bits", 4}});
  for (const auto& [name, number] : attributes) node.set(name, number);
  model.proto().mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  return model;
}

OnnxModel with_bias(OnnxModel model, const Array& bias) {
  model.weight("b", bias);
  for (const char* input : {"", "b"})
    model.proto().mutable_graph()->mutable_node(0)->add_input(input);
  return model;
}

std::vector<Wrong> wrong_few_bits() {
  return {
      {"too_few_halves", [] { return product(bfloat16, "abcd"); }, {"'w'", "4 bytes", "12"}},
      {"too_many_quarters", [] { return product(int4, "abcd"); }, {"'w'", "4 bytes", "3"}},
      {"not_dequantised",
       [] { return product(int4, "abc"); },
       {"node 'm' (MatMul)", "'w' has integers of 4 bits", "only DequantizeLinear"}},
      {"a_zero_point_to_quantise_to",
       quantised_to_four_bits,
       {"node 'm' (QuantizeLinear)", "'w' has integers of 4 bits", "only DequantizeLinear"}},
      {"scales_of_other_blocks",
       [] {
         return in_blocks("s", floats({1, 2, 3}));
       },
       {"node 'm'", "'s' is float32 of shape 3", "expected float32 with 4 numbers"}},
      {"weights_of_another_type",
       [] {
         return in_blocks("w", floats({1, 2, 3, 4}));
       },
       {"'w' is float32 of shape 4", "expected uint8 with 4 numbers"}},
      {"zero_points_of_other_columns",
       [] { return in_blocks("z", bytes_of({3})); },
       {"'z' is uint8 of shape 3", "expected uint8 with 2 numbers"}},
      {"another_number_of_bits",
       [] {
         return in_blocks("", {}, {{"bits", 3}});
       },
       {"'bits' is 3", "expected 2, 4 or 8"}},
      {"blocks_of_nothing",
       [] {
         return in_blocks("", {}, {{"block_size", 0}});
       },
       {"'block_size' is 0", "expected 1 to"}},
      {"too_many_rows",
       [] {
         return in_blocks("", {}, {{"K", 1 << 30}});
       },
       {"node 'm'", "1073741824x2", "2^31 - 1 bytes"}},
      {"bias_of_other_columns",
       [] {
         return with_bias(in_blocks("", {}), floats({1, 2, 3}));
       },
       {"node 'm'", "bias 'b' has shape 3, expected 2"}},
      {"rows_that_do_not_fit",
       [] {
         return in_blocks("", {}, {{"K", 4}});
       },
       {"node 'm'", "5x3", "4x2", "do not fit"}},
  };
}

class FewBits : public testing::TestWithParam<Wrong> {};

TEST_P(FewBits, are_refused_in_one_sentence) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(With, FewBits, testing::ValuesIn(wrong_few_bits()), name_of_case);

TEST(Bfloat16, inputs_and_outputs_are_float32) {
  OnnxModel model = product(bfloat16, std::string("\0\0\x80\x3f\0\x40\0\xc0\0\0\x80\xbf", 12));
  model.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(bfloat16);
  const Network network = model.read();
  EXPECT_EQ(network[network.inputs[0]].type, DataType::float32);
  EXPECT_EQ(network[network.outputs[0]].type, DataType::float32);
  const auto& weight = network[network.layers.at(0).inputs.at(1)].constant;
  ASSERT_TRUE(weight);
  const auto numbers = weight->values<float>();
  EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()),
            (std::vector<float>{0, 1, 2, -2, 0, -1}));
}

/// Which block a row belongs to.
TEST(FewBits, an_order_that_leaves_rows_where_they_are_does_not_matter) {
  const auto refusal = [](const std::vector<std::int32_t>& blocks) {
    OnnxModel model = in_blocks("", {});
    model.weight("o", make_array<std::int32_t>(DataType::int32, {std::ssize(blocks)}, blocks));
    model.proto().mutable_graph()->mutable_node(0)->add_input("o");
    return test::message_of([&] { model.read(); });
  };
  EXPECT_EQ(refusal({0, 0, 1}), "no error");
  EXPECT_NE(refusal({0, 1, 0}).find("has an order of rows"), std::string::npos);
}

}  // namespace
}  // namespace millrace::formats
