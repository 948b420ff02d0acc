// One input, element by element.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "formats/onnx/lower.h"

namespace millrace::formats::onnx {
namespace {

constexpr double lowest = std::numeric_limits<float>::lowest();
constexpr double highest = std::numeric_limits<float>::max();

void lower_unary(Node& node, UnaryKind kind, double alpha = 0, double beta = 0) {
  node.give(0, node.add(Unary{kind, alpha, beta}, {node.input(0)}, {node.type(0), node.shape(0)}));
}

/// A bound that is not known yet, or of an integer type, is one side of a Binary.
void clip_by_layers(Node& node) {
  TensorId value = node.input(0);
  const Made made{node.type(0), node.shape(0)};
  if (node.has(1)) value = node.add(Binary{BinaryKind::max}, {value, node.input(1)}, made);
  if (node.has(2)) value = node.add(Binary{BinaryKind::min}, {value, node.input(2)}, made);
  node.give(0, value);
}

void check_bound(const Node& node, std::size_t index) {
  if (node.has(index) && element_count(node.shape(index)) != 1)
    node.fail(fmt::format("the bound '{}' has shape {}, expected a scalar",
                          node.tensor(index).name, to_text(node.shape(index))));
  if (node.has(index) && node.rank(index) > node.rank(0))
    node.fail(fmt::format("the bound '{}' has more dimensions than the input",
                          node.tensor(index).name));
}

/// A bound that is not a number is none, as in ONNX Runtime.
void clip_between(Node& node, double low, double high) {
  lower_unary(node, UnaryKind::clip, std::isnan(low) ? lowest : low,
              std::isnan(high) ? highest : high);
}

void clip_by_inputs(Node& node) {
  need_same_types(node);
  check_bound(node, 1);
  check_bound(node, 2);
  const bool known = (!node.has(1) || is_known(node, 1)) && (!node.has(2) || is_known(node, 2));
  const bool real = node.type(0) == DataType::float32 || node.type(0) == DataType::float16;
  if (!known || !real || (!node.has(1) && !node.has(2))) return clip_by_layers(node);
  clip_between(node, node.has(1) ? numbers(node, 1, "the lower bound")[0] : lowest,
               node.has(2) ? numbers(node, 2, "the upper bound")[0] : highest);
}

}  // namespace

void lower_relu(Node& node) { lower_unary(node, UnaryKind::relu); }
void lower_sigmoid(Node& node) { lower_unary(node, UnaryKind::sigmoid); }
void lower_hard_swish(Node& node) { lower_unary(node, UnaryKind::hard_swish); }
void lower_tanh(Node& node) { lower_unary(node, UnaryKind::tanh); }
void lower_softplus(Node& node) { lower_unary(node, UnaryKind::softplus); }
void lower_mish(Node& node) { lower_unary(node, UnaryKind::mish); }
void lower_erf(Node& node) { lower_unary(node, UnaryKind::erf); }
void lower_exp(Node& node) { lower_unary(node, UnaryKind::exp); }
void lower_sqrt(Node& node) { lower_unary(node, UnaryKind::sqrt); }
void lower_round(Node& node) { lower_unary(node, UnaryKind::round); }

void lower_leaky_relu(Node& node) {
  lower_unary(node, UnaryKind::leaky_relu, double{node.attributes().number("alpha", 0.01f)});
}

void lower_hard_sigmoid(Node& node) {
  lower_unary(node, UnaryKind::hard_sigmoid, double{node.attributes().number("alpha", 0.2f)},
              double{node.attributes().number("beta", 0.5f)});
}

void lower_elu(Node& node) {
  lower_unary(node, UnaryKind::elu, double{node.attributes().number("alpha", 1)});
}

void lower_clip(Node& node) {
  if (node.opset() >= 11) return clip_by_inputs(node);
  if (node.optional_inputs().size() > 1)
    node.fail(fmt::format("has {} inputs, expected 1 in opset {}", node.optional_inputs().size(),
                          node.opset()));
  clip_between(node,
               double{node.attributes().number("min", std::numeric_limits<float>::lowest())},
               double{node.attributes().number("max", std::numeric_limits<float>::max())});
}

void lower_cast(Node& node) {
  const DataType type = node.attributes().type("to");
  if (type == node.type(0)) return node.give(0, node.input(0));
  node.give(0, node.add(Cast{}, {node.input(0)}, {type, node.shape(0)}));
}

}  // namespace millrace::formats::onnx
