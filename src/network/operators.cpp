#include "network/operators.h"

#include <array>

namespace millrace::network {
namespace {

struct NameOf {
  static constexpr std::array<std::string_view, 14> unary{
      "Relu", "LeakyRelu", "Clip", "Sigmoid", "HardSigmoid", "HardSwish", "Tanh",
      "Elu",  "Softplus",  "Mish", "Erf",     "Exp",         "Sqrt",      "Round"};
  static constexpr std::array<std::string_view, 8> binary{"Add", "Sub", "Mul", "Div",
                                                          "Pow", "Max", "Min", "PRelu"};
  static constexpr std::array<std::string_view, 3> reduce{"ReduceMean", "ReduceMin", "ReduceMax"};

  std::string_view operator()(const Conv&) const { return "Conv"; }
  std::string_view operator()(const ConvTranspose&) const { return "ConvTranspose"; }
  std::string_view operator()(const Gemm&) const { return "Gemm"; }
  std::string_view operator()(const MatMul&) const { return "MatMul"; }
  std::string_view operator()(const BatchNormalization&) const { return "BatchNormalization"; }
  std::string_view operator()(const Lrn&) const { return "LRN"; }
  std::string_view operator()(const Pool& pool) const {
    return pool.kind == PoolKind::max ? "MaxPool" : "AveragePool";
  }
  std::string_view operator()(const Unary& op) const {
    return unary[static_cast<std::size_t>(op.kind)];
  }
  std::string_view operator()(const Binary& op) const {
    return binary[static_cast<std::size_t>(op.kind)];
  }
  std::string_view operator()(const Concat&) const { return "Concat"; }
  std::string_view operator()(const Split&) const { return "Split"; }
  std::string_view operator()(const Slice&) const { return "Slice"; }
  std::string_view operator()(const Gather&) const { return "Gather"; }
  std::string_view operator()(const Reshape&) const { return "Reshape"; }
  std::string_view operator()(const Transpose&) const { return "Transpose"; }
  std::string_view operator()(const Pad&) const { return "Pad"; }
  std::string_view operator()(const Resize&) const { return "Resize"; }
  std::string_view operator()(const Softmax& op) const { return op.log ? "LogSoftmax" : "Softmax"; }
  std::string_view operator()(const Reduce& op) const {
    return reduce[static_cast<std::size_t>(op.kind)];
  }
  std::string_view operator()(const Cast&) const { return "Cast"; }
  std::string_view operator()(const DepthToSpace&) const { return "DepthToSpace"; }
  std::string_view operator()(const ArgMax&) const { return "ArgMax"; }
  std::string_view operator()(const QuantizeLinear&) const { return "QuantizeLinear"; }
  std::string_view operator()(const DequantizeLinear&) const { return "DequantizeLinear"; }
  std::string_view operator()(const DynamicQuantizeLinear&) const {
    return "DynamicQuantizeLinear";
  }
  std::string_view operator()(const ConvInteger&) const { return "ConvInteger"; }
  std::string_view operator()(const MatMulInteger&) const { return "MatMulInteger"; }
  std::string_view operator()(const QLinearConv&) const { return "QLinearConv"; }
  std::string_view operator()(const QLinearMatMul&) const { return "QLinearMatMul"; }
};

}  // namespace

std::string_view name_of(const Operator& op) { return std::visit(NameOf{}, op); }

}  // namespace millrace::network
