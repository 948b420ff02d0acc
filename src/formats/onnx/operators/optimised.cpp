// The dialect of ONNX Runtime's optimiser: what it saves with `optimized_model_filepath`.
// Semantics: its own description of contributed operators.
#include <fmt/format.h>

#include <array>

#include "formats/onnx/lower.h"
#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/quantized.h"

namespace millrace::formats::onnx {
namespace {

struct Activation {
  std::string_view name;
  UnaryKind kind;
  double alpha = 0, beta = 0;  // where the node gives none
};
constexpr std::array activations{
    Activation{"Elu", UnaryKind::elu, 1},
    Activation{"HardSigmoid", UnaryKind::hard_sigmoid, double{0.2f}, 0.5},
    Activation{"LeakyRelu", UnaryKind::leaky_relu, double{0.01f}},
    Activation{"Relu", UnaryKind::relu},
    Activation{"Sigmoid", UnaryKind::sigmoid},
    Activation{"Softplus", UnaryKind::softplus},
    Activation{"Softsign", UnaryKind::softsign},
    Activation{"Tanh", UnaryKind::tanh},
    Activation{"ThresholdedRelu", UnaryKind::thresholded_relu, 1},
};

/// `given`: in their order.
Unary activation_of(const Node& node, const std::vector<float>& given) {
  const std::string name = node.attributes().text("activation", "");
  const auto given_or = [&](std::size_t i, double usual) {
    return i < given.size() ? double{given[i]} : usual;
  };
  if (name == "Clip") {
    if (given.size() != 2) node.fail("Clip needs a least and a largest value");
    return {UnaryKind::clip, double{given[0]}, double{given[1]}};
  }
  for (const Activation& each : activations)
    if (each.name == name) return {each.kind, given_or(0, each.alpha), given_or(1, each.beta)};
  node.fail(fmt::format("the activation '{}' is not supported", name));
}

/// Inputs: x, weights, bias, what is added before the activation.
void lower_fused_conv(Node& node) {
  Steps steps(node);
  TensorId result = convolved(node, 3);
  if (node.has(3)) {
    if (node.shape(3) != steps.shape(result))
      node.fail(fmt::format("'{}' has shape {}, expected {}", node.tensor(3).name,
                            to_text(node.shape(3)), to_text(steps.shape(result))));
    result = steps.sum(result, node.input(3));
  }
  const auto given = node.attributes().numbers("activation_params").value_or(std::vector<float>{});
  if (!node.attributes().text("activation", "").empty())
    result = steps.function(activation_of(node, given), result);
  node.give(0, result);
}

void lower_fused_gemm(Node& node) {
  std::vector<float> given;
  for (const char* name : {"activation_alpha", "activation_beta"})
    if (node.attributes().has(name)) given.push_back(node.attributes().number(name, 0));
  const TensorId product = multiplied(node);
  if (node.attributes().text("activation", "").empty()) return node.give(0, product);
  node.give(0, Steps(node).function(activation_of(node, given), product));
}

// Products of bytes, back to numbers with a point.

void check_float(const Node& node, std::size_t input) {
  if (node.type(input) != DataType::float32)
    node.fail(fmt::format("the input '{}' has type {}, expected float32", node.tensor(input).name,
                          to_text(node.type(input))));
}

/// Products times both scales, and a bias.
TensorId in_numbers(Node& node, TensorId products, TensorId scale, std::size_t bias) {
  Steps steps(node);
  const TensorId result =
      steps.combined(BinaryKind::mul, steps.as(products, DataType::float32), scale);
  if (!node.has(bias)) return result;
  const TensorId with_bias = steps.sum(result, node.input(bias));
  if (steps.shape(with_bias) != steps.shape(result)) node.fail("the bias does not fit the product");
  return with_bias;
}

/// Inputs: x, bytes, their scale, their zero point, bias. x becomes bytes with a range of its own.
void lower_dynamic_quantize_mat_mul(Node& node) {
  check_float(node, 0);
  check_float(node, 2);
  const std::vector<TensorId> x =
      node.add(DynamicQuantizeLinear{}, {node.input(0)},
               {Made{DataType::uint8, node.shape(0)}, Made{DataType::float32, {}},
                Made{DataType::uint8, {}}});
  const TensorId products = multiplied_bytes(node, {{x[0], x[2]}, {1, 3}});
  const TensorId scale = Steps(node).combined(BinaryKind::mul, x[1], node.input(2));
  node.give(0, in_numbers(node, products, scale, 4));
}

/// Inputs: bytes, bytes, both scales, both zero points, bias.
void lower_mat_mul_integer_to_float(Node& node) {
  check_float(node, 2);
  check_float(node, 3);
  check_single(node, 2);
  const TensorId zero = node.has(4) ? node.input(4) : TensorId();
  const TensorId products = multiplied_bytes(node, {{node.input(0), zero}, {1, 5}});
  const TensorId scale = Steps(node).combined(BinaryKind::mul, node.input(2), node.input(3));
  node.give(0, in_numbers(node, products, scale, 6));
}

constexpr std::array table_of_optimised{
    OperatorEntry{"com.microsoft.DynamicQuantizeMatMul", lower_dynamic_quantize_mat_mul, 3, 5, ""},
    OperatorEntry{
        "com.microsoft.FusedConv", lower_fused_conv, 2, 4,
        "activation activation_params auto_pad dilations group kernel_shape pads strides"},
    OperatorEntry{"com.microsoft.FusedGemm", lower_fused_gemm, 2, 3,
                  "activation activation_alpha activation_beta activation_gamma alpha beta transA "
                  "transB"},
    OperatorEntry{"com.microsoft.MatMulIntegerToFloat", lower_mat_mul_integer_to_float, 4, 7, ""},
};

}  // namespace

std::span<const OperatorEntry> optimised_operators() { return table_of_optimised; }

}  // namespace millrace::formats::onnx
