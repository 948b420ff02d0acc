// Attention and what ONNX Runtime's optimisers make of it: what is refused, and in which words.
// What they compute is compared in onnx_cases_test.cpp.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "formats/onnx/wrong.h"

namespace millrace::formats {

using namespace network;
namespace {

using test::expect_refused;
using test::name_of_case;
using test::OnnxModel;
using test::OnnxNode;
using test::Wrong;

using Change = std::function<void(OnnxNode&)>;

/// One node with inputs of these shapes, the first ones float32.
OnnxModel one_node(const std::string& op_type, const std::vector<Shape>& shapes,
                   const Change& change) {
  OnnxModel model(23);
  std::vector<std::string> names;
  for (const Shape& shape : shapes) {
    names.push_back(shape == Shape{-1} ? "" : "i" + std::to_string(names.size()));
    if (!names.back().empty()) model.input(names.back(), shape);
  }
  model.output("y");
  OnnxNode node = model.node(op_type, names, {"y"});
  node.named("n");
  change(node);
  return model;
}

OnnxModel fused(const std::string& op_type, const std::vector<Shape>& shapes,
                const Change& change) {
  return one_node(op_type, shapes, [&](OnnxNode& node) {
    node.proto().set_domain("com.microsoft");
    change(node);
  });
}

const Change nothing = [](OnnxNode&) {};
const Change two_heads = [](OnnxNode& node) { node.set("num_heads", 2); };
const Shape left_out{-1};

std::vector<Wrong> wrong_attention() {
  const Shape q{2, 4, 5, 8};
  return {
      {"other_numbers",
       [=] {
         return one_node("Attention", {q, {2, 4, 6, 7}, {2, 4, 6, 8}}, nothing);
       },
       {"node 'n'", "queries 2x4x5x8, keys 2x4x6x7"}},
      {"heads_that_do_not_divide",
       [=] {
         return one_node("Attention", {q, {2, 3, 6, 8}, {2, 3, 6, 8}}, nothing);
       },
       {"do not fit"}},
      {"no_number_of_heads",
       [=] {
         return one_node("Attention", {{2, 5, 8}, {2, 5, 8}, {2, 5, 8}}, nothing);
       },
       {"q_num_heads"}},
      {"a_longer_mask",
       [=] {
         return one_node("Attention", {q, q, q, {5, 9}}, nothing);
       },
       {"the mask has shape 5x9, but there are 5 keys"}},
      {"half_a_cache",
       [=] {
         return one_node("Attention", {q, q, q, left_out, {2, 4, 3, 8}}, nothing);
       },
       {"'past_key' and 'past_value' must be there together"}},
      {"an_unknown_mode",
       [=] {
         return one_node("Attention", {q, q, q},
                         [](auto& node) { node.set("qk_matmul_output_mode", 4); });
       },
       {"'qk_matmul_output_mode' is 4, expected 0 to 3"}},
      {"an_odd_width",
       [=] {
         return one_node("RotaryEmbedding", {q, {2, 5, 4}, {2, 5, 4}},
                         [](auto& node) { node.set("rotary_embedding_dim", 3); });
       },
       {"'rotary_embedding_dim' is 3, expected an even number up to 8"}},
      {"other_angles",
       [=] {
         return one_node("RotaryEmbedding", {q, {2, 5, 3}, {2, 5, 4}}, nothing);
       },
       {"'i1' gives angles of shape 2x5x3, expected 2x5x4"}},
  };
}

std::vector<Wrong> wrong_fused() {
  const Shape x{2, 5, 8};
  return {
      {"sizes",
       [=] {
         return fused("Attention", {x, {8, 25}}, two_heads);
       },
       {"'qkv_hidden_sizes' is", "25 numbers"}},
      {"weights_of_other_rows",
       [=] {
         return fused("Attention", {x, {9, 24}}, two_heads);
       },
       {"the matrices 2x5x8 and 9x24 do not fit"}},
      {"a_mask_of_numbers",
       [=] {
         return fused("Attention", {x, {8, 24}, {24}, {2, 5}}, two_heads);
       },
       {"the mask 'i3' has type float32, expected int32"}},
      {"rotation",
       [=] {
         return fused("Attention", {x, {8, 24}},
                      [](auto& node) { node.set("num_heads", 2).set("do_rotary", 1); });
       },
       {"'do_rotary' is not supported"}},
      {"no_keys",
       [=] { return fused("MultiHeadAttention", {x}, two_heads); },
       {"the input 'key' is missing"}},
      {"keys_of_two_dimensions",
       [=] {
         return fused("MultiHeadAttention", {x, {2, 6}, x}, two_heads);
       },
       {"'i1' has shape 2x6, expected batch x tokens x numbers"}},
      {"a_mask_of_other_words",
       [=] {
         OnnxModel model = fused("EmbedLayerNormalization",
                                 {left_out, left_out, {9, 8}, {9, 8}, left_out, {8}, {8}, {3}},
                                 [](OnnxNode& node) { node.proto().add_output("m"); });
         model.proto().mutable_graph()->mutable_node(0)->set_input(0, "words");
         model.input("words", {2, 3}, DataType::int64);
         return model;
       },
       {"the mask 'i7' is float32 3, expected int32 2x3"}},
      {"a_small_bias",
       [=] {
         return fused("MultiHeadAttention", {x, x, x, {16}}, two_heads);
       },
       {"the bias has shape 16, which is too small"}},
  };
}

std::vector<Wrong> wrong_fused_sums() {
  const Shape x{2, 5, 8};
  return {
      {"a_wider_skip",
       [=] {
         return fused("SkipLayerNormalization", {{1, 5, 8}, x, {8}}, nothing);
       },
       {"'i1' of shape 2x5x8 does not spread over 1x5x8"}},
      {"gamma_of_another_size",
       [=] {
         return fused("SkipLayerNormalization", {x, x, {7}}, nothing);
       },
       {"'i2' is float32 7, expected float32 8"}},
      {"batches_turned",
       [=] {
         return fused("FusedMatMul", {x, x},
                      [](auto& node) { node.set("transB", 1).set("transBatchA", 1); });
       },
       {"'transBatchA' is not supported"}},
  };
}

class WrongAttention : public testing::TestWithParam<Wrong> {};

TEST_P(WrongAttention, is_refused_in_one_sentence) { expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Standard, WrongAttention, testing::ValuesIn(wrong_attention()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Fused, WrongAttention, testing::ValuesIn(wrong_fused()), name_of_case);
INSTANTIATE_TEST_SUITE_P(FusedSums, WrongAttention, testing::ValuesIn(wrong_fused_sums()),
                         name_of_case);

}  // namespace
}  // namespace millrace::formats
