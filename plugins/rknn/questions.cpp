#include "questions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace millrace_rknn {
namespace {

constexpr std::array<std::string_view, 6> products{"Conv", "ConvTranspose", "Gemm", "MatMul",
                                                   "GRU", "LSTM"};
/// Operators besides the products.
constexpr std::array<std::string_view, 41> others{
    "Add", "AveragePool", "BatchNormalization", "Clip", "Concat", "DepthToSpace", "Div", "Elu",
    "Exp", "Flatten", "Gelu", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid", "HardSwish",
    "Identity", "LayerNormalization", "LeakyRelu", "Max", "MaxPool", "Min", "Mul", "Pad", "PRelu",
    "ReduceMax", "ReduceMean", "ReduceSum", "Relu", "Reshape", "Resize", "Sigmoid", "Slice",
    "Softmax", "SpaceToDepth", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "Transpose",
    "Unsqueeze"};

bool is_among(const auto& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_constant(const MillraceTensor& tensor) { return tensor.data != nullptr; }

/// What is wrong with a tensor that the NPU computes with; runs: nothing.
NpuAnswer fault_of(const MillraceTensor& tensor, std::size_t node) {
  constexpr std::int32_t most_dimensions = 4;
  if (tensor.type != millrace_float32)
    return {millrace_no_type, node, "expected float32, which the NPU computes in float16 or int8"};
  if (tensor.rank < 1 || tensor.rank > most_dimensions)
    return {millrace_no_shape, node, "expected 1 to 4 dimensions"};
  return {};
}

NpuAnswer answer_of(const MillraceSubnet& subnet, std::size_t number) {
  const MillraceNode& node = subnet.nodes[number];
  if (!multiplies(node) && !is_among(others, node.op))
    return {millrace_no_operator, number, "rknn-toolkit2 is not known to run it on the NPU"};
  if (subnet.layers[node.layer].precision == millrace_f32 ||
      subnet.layers[node.layer].precision == millrace_bf16)
    return {millrace_no_precision, number, "the NPU computes in float16 or int8"};
  const auto fault_among = [&](const std::int32_t* tensors, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (tensors[i] < 0 || is_constant(subnet.tensors[tensors[i]])) continue;
      const NpuAnswer answer = fault_of(subnet.tensors[tensors[i]], number);
      if (answer.reason != millrace_runs) return answer;
    }
    return NpuAnswer{};
  };
  const NpuAnswer answer = fault_among(node.inputs, node.input_count);
  return answer.reason != millrace_runs ? answer : fault_among(node.outputs, node.output_count);
}

}  // namespace

NpuAnswer can_run(const MillraceSubnet& subnet) {
  for (std::size_t i = 0; i < subnet.node_count; ++i)
    if (NpuAnswer answer = answer_of(subnet, i); answer.reason != millrace_runs) return answer;
  return {};
}

bool multiplies(const MillraceNode& node) { return is_among(products, node.op); }

bool has_int8(const MillraceSubnet& subnet) {
  return std::any_of(subnet.layers, subnet.layers + subnet.layer_count, [](const auto& layer) {
    return layer.precision == millrace_int8_products;
  });
}

}  // namespace millrace_rknn
