#include "network/operators.h"

#include <array>

namespace millrace::network {
namespace {

struct NameOf {
  static constexpr std::array<std::string_view, 41> unary{"Relu",
                                                          "LeakyRelu",
                                                          "Clip",
                                                          "Sigmoid",
                                                          "HardSigmoid",
                                                          "HardSwish",
                                                          "Tanh",
                                                          "Elu",
                                                          "Softplus",
                                                          "Mish",
                                                          "Erf",
                                                          "Exp",
                                                          "Sqrt",
                                                          "Round",
                                                          "Neg",
                                                          "Abs",
                                                          "Sign",
                                                          "Reciprocal",
                                                          "Log",
                                                          "Sin",
                                                          "Cos",
                                                          "Tan",
                                                          "Asin",
                                                          "Acos",
                                                          "Atan",
                                                          "Sinh",
                                                          "Cosh",
                                                          "Asinh",
                                                          "Acosh",
                                                          "Atanh",
                                                          "Floor",
                                                          "Ceil",
                                                          "Gelu",
                                                          "Gelu",
                                                          "Celu",
                                                          "Selu",
                                                          "ThresholdedRelu",
                                                          "Softsign",
                                                          "Shrink",
                                                          "Swish",
                                                          "Not"};
  static constexpr std::array<std::string_view, 18> binary{
      "Add", "Sub", "Mul", "Div", "Pow", "Max",        "Min",       "PRelu",      "Mod",
      "Mod", "And", "Or",  "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift", "BitShift"};
  static constexpr std::array<std::string_view, 10> reduce{
      "ReduceMean", "ReduceMin", "ReduceMax",    "ReduceSum",       "ReduceProd",
      "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"};
  static constexpr std::array<std::string_view, 5> compare{"Equal", "Less", "LessOrEqual",
                                                           "Greater", "GreaterOrEqual"};
  static constexpr std::array<std::string_view, 3> recurrent{"RNN", "GRU", "LSTM"};

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
  std::string_view operator()(const ArgMax& op) const { return op.smallest ? "ArgMin" : "ArgMax"; }
  std::string_view operator()(const QuantizeLinear&) const { return "QuantizeLinear"; }
  std::string_view operator()(const DequantizeLinear&) const { return "DequantizeLinear"; }
  std::string_view operator()(const DynamicQuantizeLinear&) const {
    return "DynamicQuantizeLinear";
  }
  std::string_view operator()(const ConvInteger&) const { return "ConvInteger"; }
  std::string_view operator()(const MatMulInteger&) const { return "MatMulInteger"; }
  std::string_view operator()(const QLinearConv&) const { return "QLinearConv"; }
  std::string_view operator()(const QLinearMatMul&) const { return "QLinearMatMul"; }
  std::string_view operator()(const Normalization& op) const {
    return op.centred ? "LayerNormalization" : "RMSNormalization";
  }
  std::string_view operator()(const Compare& op) const {
    return compare[static_cast<std::size_t>(op.kind)];
  }
  std::string_view operator()(const Test& op) const {
    return op.kind == TestKind::is_nan ? "IsNaN" : "IsInf";
  }
  std::string_view operator()(const Where&) const { return "Where"; }
  std::string_view operator()(const Tile&) const { return "Tile"; }
  std::string_view operator()(const GatherElements&) const { return "GatherElements"; }
  std::string_view operator()(const GatherNd&) const { return "GatherND"; }
  std::string_view operator()(const ScatterElements&) const { return "ScatterElements"; }
  std::string_view operator()(const ScatterNd&) const { return "ScatterND"; }
  std::string_view operator()(const TopK&) const { return "TopK"; }
  std::string_view operator()(const OneHot&) const { return "OneHot"; }
  std::string_view operator()(const GridSample&) const { return "GridSample"; }
  std::string_view operator()(const NonMaxSuppression&) const { return "NonMaxSuppression"; }
  std::string_view operator()(const RoiAlign&) const { return "RoiAlign"; }
  std::string_view operator()(const CumSum&) const { return "CumSum"; }
  std::string_view operator()(const VaryingPart&) const { return "VaryingPart"; }
  std::string_view operator()(const Opaque& op) const { return op.name; }
  std::string_view operator()(const Recurrent& op) const {
    return recurrent[static_cast<std::size_t>(op.kind)];
  }
};

}  // namespace

std::string_view name_of(const Operator& op) { return std::visit(NameOf{}, op); }

}  // namespace millrace::network
