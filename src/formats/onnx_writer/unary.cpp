// Functions of one element.
#include <cmath>
#include <limits>

#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

bool is_real(DataType type) {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::float16;
}

/// A bound that no value exceeds is left out.
void write_clip(const Unary& op, LayerNodes& layer) {
  constexpr double lowest = std::numeric_limits<float>::lowest();
  constexpr double highest = std::numeric_limits<float>::max();
  const bool single = layer.type() == DataType::float32;
  Names inputs{layer.input(), "", ""};
  if (!single || op.alpha != lowest) inputs[1] = number(layer, op.alpha);
  if (!single || op.beta != highest) inputs[2] = number(layer, op.beta);
  layer.node("Clip", inputs, layer.outputs());
}

void write_hard_swish(LayerNodes& layer) {
  const NodeToWrite gate = layer.inner("HardSigmoid", {layer.input()});
  gate.set("alpha", 1.0f / 6).set("beta", 0.5f);
  layer.node("Mul", {layer.input(), gate.output()}, layer.outputs());
}

void write_mish(LayerNodes& layer) {
  const std::string soft = layer.inner("Softplus", {layer.input()}).output();
  const std::string gate = layer.inner("Tanh", {soft}).output();
  layer.node("Mul", {layer.input(), gate}, layer.outputs());
}

void write_swish(const Unary& op, LayerNodes& layer) {
  std::string x = layer.input();
  if (op.alpha != 1) x = layer.inner("Mul", {x, number(layer, op.alpha)}).output();
  const std::string gate = layer.inner("Sigmoid", {x}).output();
  layer.node("Mul", {layer.input(), gate}, layer.outputs());
}

/// (1 + gate) * x * 0.5, in the order that libraries recognise.
void write_half_of(const std::string& gate, LayerNodes& layer) {
  const std::string sum = layer.inner("Add", {gate, number(layer, 1)}).output();
  const std::string product = layer.inner("Mul", {layer.input(), sum}).output();
  layer.node("Mul", {product, number(layer, 0.5)}, layer.outputs());
}

void write_gelu(LayerNodes& layer) {
  const std::string root = number(layer, std::sqrt(2.0));
  const std::string scaled = layer.inner("Div", {layer.input(), root}).output();
  write_half_of(layer.inner("Erf", {scaled}).output(), layer);
}

void write_gelu_tanh(LayerNodes& layer) {
  const std::string x = layer.input();
  const std::string cube = layer.inner("Pow", {x, number(layer, 3)}).output();
  const std::string part = layer.inner("Mul", {cube, number(layer, 0.044715)}).output();
  const std::string sum = layer.inner("Add", {x, part}).output();
  const std::string root = number(layer, 0.7978845608028654);  // of 2 / pi
  const std::string scaled = layer.inner("Mul", {sum, root}).output();
  write_half_of(layer.inner("Tanh", {scaled}).output(), layer);
}

/// Celu exists for float32; of others it is alpha * elu(x / alpha).
void write_celu(const Unary& op, LayerNodes& layer) {
  if (layer.type() == DataType::float32) {
    layer.node("Celu").set("alpha", static_cast<float>(op.alpha));
    return;
  }
  const std::string alpha = number(layer, op.alpha);
  const std::string scaled = layer.inner("Div", {layer.input(), alpha}).output();
  const std::string elu = layer.inner("Elu", {scaled}).output();
  layer.node("Mul", {elu, alpha}, layer.outputs());
}

struct Parameters {
  UnaryKind kind;
  const char *alpha, *beta;  // their names in ONNX; null: not one
};
constexpr std::array parameters{
    Parameters{UnaryKind::leaky_relu, "alpha", nullptr},
    Parameters{UnaryKind::hard_sigmoid, "alpha", "beta"},
    Parameters{UnaryKind::elu, "alpha", nullptr},
    Parameters{UnaryKind::selu, "alpha", "gamma"},
    Parameters{UnaryKind::thresholded_relu, "alpha", nullptr},
    Parameters{UnaryKind::shrink, "lambd", "bias"},
};

void write_function(const Unary& op, LayerNodes& layer) {
  const NodeToWrite node = layer.node(std::string(name_of(op)));
  for (const Parameters& p : parameters) {
    if (p.kind != op.kind) continue;
    node.set(p.alpha, static_cast<float>(op.alpha));
    if (p.beta != nullptr) node.set(p.beta, static_cast<float>(op.beta));
  }
  if (op.kind == UnaryKind::relu && !is_real(layer.type())) layer.need_opset(14);
}

}  // namespace

void write(const Unary& op, LayerNodes& layer) {
  switch (op.kind) {
    case UnaryKind::clip:
      return write_clip(op, layer);
    case UnaryKind::hard_swish:
      return write_hard_swish(layer);
    case UnaryKind::mish:
      return write_mish(layer);
    case UnaryKind::gelu:
      return write_gelu(layer);
    case UnaryKind::gelu_tanh:
      return write_gelu_tanh(layer);
    case UnaryKind::swish:
      return write_swish(op, layer);
    case UnaryKind::celu:
      return write_celu(op, layer);
    default:
      return write_function(op, layer);
  }
}

}  // namespace millrace::formats::onnx_writer
