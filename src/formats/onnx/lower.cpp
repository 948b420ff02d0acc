#include "formats/onnx/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/file.h"
#include "formats/onnx/graph/read_nodes.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::size_t any = any_number;

constexpr std::string_view conv_words = "auto_pad dilations group kernel_shape pads strides";
constexpr std::string_view constant_words =
    "value value_float value_floats value_int value_ints value_string value_strings sparse_value";
constexpr std::string_view resize_words =
    "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
    "extrapolation_value keep_aspect_ratio_policy mode nearest_mode";

constexpr std::string_view reduce_words = "axes keepdims noop_with_empty_axes";

constexpr std::array table{
    OperatorEntry{"Add", lower_add, 2, 2, ""},
    OperatorEntry{"ArgMax", lower_arg_max, 1, 1, "axis keepdims select_last_index"},
    OperatorEntry{"ArgMin", lower_arg_min, 1, 1, "axis keepdims select_last_index"},
    OperatorEntry{"AveragePool", lower_average_pool, 1, 1,
                  "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    OperatorEntry{"BatchNormalization", lower_batch_normalization, 5, 5,
                  "epsilon momentum spatial training_mode"},
    OperatorEntry{"Cast", lower_cast, 1, 1, "to saturate round_mode"},
    OperatorEntry{"Clip", lower_clip, 1, 3, "min max"},
    OperatorEntry{"Col2Im", lower_col2im, 3, 3, "dilations pads strides"},
    OperatorEntry{"Concat", lower_concat, 1, any, "axis"},
    OperatorEntry{"Constant", lower_constant, 0, 0, constant_words},
    OperatorEntry{"ConstantOfShape", lower_constant_of_shape, 1, 1, "value"},
    OperatorEntry{"Conv", lower_conv, 2, 3, conv_words},
    OperatorEntry{"ConvInteger", lower_conv_integer, 2, 4, conv_words},
    OperatorEntry{"ConvTranspose", lower_conv_transpose, 2, 3,
                  "auto_pad dilations group kernel_shape output_padding output_shape pads strides"},
    OperatorEntry{"DepthToSpace", lower_depth_to_space, 1, 1, "blocksize mode"},
    OperatorEntry{"DequantizeLinear", lower_dequantize_linear, 2, 3,
                  "axis block_size output_dtype"},
    OperatorEntry{"Div", lower_div, 2, 2, ""},
    OperatorEntry{"Dropout", lower_dropout, 1, 3, "ratio seed"},
    OperatorEntry{"DynamicQuantizeLinear", lower_dynamic_quantize_linear, 1, 1, ""},
    OperatorEntry{"Elu", lower_elu, 1, 1, "alpha"},
    OperatorEntry{"Erf", lower_erf, 1, 1, ""},
    OperatorEntry{"Exp", lower_exp, 1, 1, ""},
    OperatorEntry{"Flatten", lower_flatten, 1, 1, "axis"},
    OperatorEntry{"Gather", lower_gather, 2, 2, "axis"},
    OperatorEntry{"Gemm", lower_gemm, 2, 3, "alpha beta transA transB"},
    OperatorEntry{"GlobalAveragePool", lower_global_average_pool, 1, 1, ""},
    OperatorEntry{"GlobalMaxPool", lower_global_max_pool, 1, 1, ""},
    OperatorEntry{"HardSigmoid", lower_hard_sigmoid, 1, 1, "alpha beta"},
    OperatorEntry{"HardSwish", lower_hard_swish, 1, 1, ""},
    OperatorEntry{"Identity", lower_identity, 1, 1, ""},
    OperatorEntry{"LRN", lower_lrn, 1, 1, "alpha beta bias size"},
    OperatorEntry{"LeakyRelu", lower_leaky_relu, 1, 1, "alpha"},
    OperatorEntry{"LogSoftmax", lower_log_softmax, 1, 1, "axis"},
    OperatorEntry{"MatMul", lower_mat_mul, 2, 2, ""},
    OperatorEntry{"MatMulInteger", lower_mat_mul_integer, 2, 4, ""},
    OperatorEntry{"Max", lower_max, 1, any, ""},
    OperatorEntry{"MaxPool", lower_max_pool, 1, 1,
                  "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    OperatorEntry{"Min", lower_min, 1, any, ""},
    OperatorEntry{"Mish", lower_mish, 1, 1, ""},
    OperatorEntry{"Mul", lower_mul, 2, 2, ""},
    OperatorEntry{"PRelu", lower_prelu, 2, 2, ""},
    OperatorEntry{"Pad", lower_pad, 1, 4, "mode pads value"},
    OperatorEntry{"Pow", lower_pow, 2, 2, ""},
    OperatorEntry{"QLinearConv", lower_q_linear_conv, 8, 9, conv_words},
    OperatorEntry{"QLinearMatMul", lower_q_linear_mat_mul, 8, 8, ""},
    OperatorEntry{"QuantizeLinear", lower_quantize_linear, 2, 3,
                  "axis block_size output_dtype precision saturate"},
    OperatorEntry{"ReduceL1", lower_reduce_l1, 1, 2, reduce_words},
    OperatorEntry{"ReduceL2", lower_reduce_l2, 1, 2, reduce_words},
    OperatorEntry{"ReduceLogSum", lower_reduce_log_sum, 1, 2, reduce_words},
    OperatorEntry{"ReduceLogSumExp", lower_reduce_log_sum_exp, 1, 2, reduce_words},
    OperatorEntry{"ReduceMax", lower_reduce_max, 1, 2, reduce_words},
    OperatorEntry{"ReduceMean", lower_reduce_mean, 1, 2, reduce_words},
    OperatorEntry{"ReduceMin", lower_reduce_min, 1, 2, reduce_words},
    OperatorEntry{"ReduceProd", lower_reduce_prod, 1, 2, reduce_words},
    OperatorEntry{"ReduceSum", lower_reduce_sum, 1, 2, reduce_words},
    OperatorEntry{"ReduceSumSquare", lower_reduce_sum_square, 1, 2, reduce_words},
    OperatorEntry{"Relu", lower_relu, 1, 1, ""},
    OperatorEntry{"Reshape", lower_reshape, 2, 2, "allowzero"},
    OperatorEntry{"Resize", lower_resize, 1, 4, resize_words},
    OperatorEntry{"Round", lower_round, 1, 1, ""},
    OperatorEntry{"Shape", lower_shape, 1, 1, "start end"},
    OperatorEntry{"Sigmoid", lower_sigmoid, 1, 1, ""},
    OperatorEntry{"Slice", lower_slice, 1, 5, "axes ends starts"},
    OperatorEntry{"Softmax", lower_softmax, 1, 1, "axis"},
    OperatorEntry{"Softplus", lower_softplus, 1, 1, ""},
    OperatorEntry{"Split", lower_split, 1, 2, "axis split num_outputs"},
    OperatorEntry{"Sqrt", lower_sqrt, 1, 1, ""},
    OperatorEntry{"Squeeze", lower_squeeze, 1, 2, "axes"},
    OperatorEntry{"Sub", lower_sub, 2, 2, ""},
    OperatorEntry{"Sum", lower_add, 1, any, ""},
    OperatorEntry{"Tanh", lower_tanh, 1, 1, ""},
    OperatorEntry{"Transpose", lower_transpose, 1, 1, "perm"},
    OperatorEntry{"Unsqueeze", lower_unsqueeze, 1, 2, "axes"},
    OperatorEntry{"Upsample", lower_upsample, 1, 2, "mode scales"},
};

/// Whether only one or two neighbouring letters differ, and most are the same: a slip of the pen.
/// An operator that merely sounds like another computes something else.
bool is_misspelt(std::string_view word, std::string_view known) {
  const std::size_t shorter = std::min(word.size(), known.size());
  const std::size_t longer = std::max(word.size(), known.size());
  std::size_t same = 0, same_at_end = 0;
  while (same < shorter && word[same] == known[same]) ++same;
  while (same_at_end < shorter - same &&
         word[word.size() - 1 - same_at_end] == known[known.size() - 1 - same_at_end])
    ++same_at_end;
  const std::size_t different = longer - same - same_at_end;
  return different <= 2 && 2 * different < longer;
}

std::vector<const OperatorEntry*> all_entries() {
  std::vector<const OperatorEntry*> all;
  const std::span<const OperatorEntry> basic = table;
  for (const std::span<const OperatorEntry> entries :
       {basic, element_operators(), repetition_operators(), indexing_operators(),
        normalization_operators(), sequence_operators(), loss_operators(), lp_pool_operators(),
        attention_operators(), deformed_operators(), fused_operators(), optimised_operators(),
        learned_operators(), rearranged_operators(), quantized_operators(), spectrum_operators(),
        vision_operators(), control_operators()})
    for (const OperatorEntry& entry : entries) all.push_back(&entry);
  return all;
}

const OperatorEntry* find_entry(std::string_view op_type) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const OperatorEntry*> entries;
    for (const OperatorEntry* entry : all_entries()) entries.emplace(entry->name, entry);
    return entries;
  }();
  const auto found = by_name.find(op_type);
  return found == by_name.end() ? nullptr : found->second;
}

std::string hint_for(std::string_view op_type) {
  std::vector<std::string_view> names;
  for (const OperatorEntry* entry : all_entries()) names.push_back(entry->name);
  const std::string near = nearest_word(op_type, names);
  return is_misspelt(op_type, near) ? fmt::format(" (the nearest known is {})", near) : "";
}

void check_inputs(const Node& node, const OperatorEntry& entry) {
  const std::size_t found = node.optional_inputs().size();
  if (found < entry.least_inputs || found > entry.most_inputs)
    node.fail(fmt::format("has {} inputs, expected {}", found,
                          entry.least_inputs == entry.most_inputs
                              ? fmt::format("{}", entry.least_inputs)
                          : entry.most_inputs == any
                              ? fmt::format("at least {}", entry.least_inputs)
                              : fmt::format("{} to {}", entry.least_inputs, entry.most_inputs)));
  for (std::size_t i = 0; i < entry.least_inputs; ++i) node.input(i);
}

}  // namespace

void refuse_operator(const Node& node, const std::string& op_type, const std::string& why) {
  Problems& problems = node.reading().problems;
  const std::string& hint = problems.hint(op_type, [&] { return hint_for(op_type); });
  if (!why.empty()) problems.say_remedy(why);
  std::string text = fmt::format("the operator '{}' is not supported{}; {}; or export the model "
                                 "without it",
                                 op_type, hint, why);
  if (why.empty())
    text = fmt::format("the operator '{}' is not supported{}, and no engine of this build runs it; "
                       "simplify the model or export it without this operator",
                       op_type, hint);
  throw UnknownOperator(node.place(), text);
}

bool is_supported(std::string_view op_type) { return find_entry(op_type) != nullptr; }

void lower(Node& node, std::string_view op_type) {
  const OperatorEntry* entry = find_entry(op_type);
  if (entry == nullptr) refuse_operator(node, std::string(op_type), {});
  node.attributes().only(entry->attributes);
  check_inputs(node, *entry);
  entry->lower(node);
}

}  // namespace millrace::formats::onnx
