// Several inputs, element by element, with broadcasting.
#include <fmt/format.h>

#include "formats/onnx/lower.h"
#include "network/evaluate/evaluate.h"

namespace millrace::formats::onnx {
namespace {

/// What has two inputs and their broadcast shape as output.
TensorId combine(Node& node, BinaryKind kind, TensorId a, TensorId b) {
  const std::optional<Shape> shape = broadcast(node.tensor(a).shape, node.tensor(b).shape);
  if (!shape)
    node.fail(
        fmt::format("the inputs '{}' and '{}' have shapes {} and {}, which cannot be "
                    "broadcast together",
                    node.tensor(a).name, node.tensor(b).name, to_text(node.tensor(a).shape),
                    to_text(node.tensor(b).shape)));
  return node.add(Binary{kind}, {a, b}, {node.tensor(a).type, *shape});
}

/// A chain for three and more inputs; the input itself for one.
void lower_chain(Node& node, BinaryKind kind) {
  need_same_types(node);
  const std::vector<TensorId> inputs = node.inputs();
  TensorId result = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) result = combine(node, kind, result, inputs[i]);
  node.give(0, result);
}

bool is_floating(DataType type) {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::float16;
}

TensorId cast(Node& node, TensorId id, DataType type) {
  const Tensor& tensor = node.tensor(id);
  if (tensor.type == type) return id;
  const Shape shape = tensor.shape;
  return node.add(Cast{}, {id}, {type, shape});
}

/// Whether the exponent is an integer that float32 rounds: then it may become an even number.
bool is_rounded(const Node& node) {
  const Tensor& exponent = node.tensor(1);
  if (is_floating(exponent.type) || !exponent.constant) return false;
  const Array wide = network::converted(*exponent.constant, DataType::float64);
  const auto values = wide.values<double>();
  return std::any_of(values.begin(), values.end(),
                     [](double x) { return static_cast<double>(static_cast<float>(x)) != x; });
}

/// In what powers are computed: integers with floating-point exponents in double, which holds them.
DataType type_of_powers(const Node& node) {
  const DataType base = node.type(0), exponent = node.type(1);
  if (is_floating(base)) return is_rounded(node) ? DataType::float64 : base;
  return is_floating(exponent) ? DataType::float64 : base;
}

}  // namespace

void lower_add(Node& node) { lower_chain(node, BinaryKind::add); }
void lower_sub(Node& node) { lower_chain(node, BinaryKind::sub); }
void lower_mul(Node& node) { lower_chain(node, BinaryKind::mul); }
void lower_div(Node& node) { lower_chain(node, BinaryKind::div); }
void lower_max(Node& node) { lower_chain(node, BinaryKind::max); }
void lower_min(Node& node) { lower_chain(node, BinaryKind::min); }

/// Base and exponent may differ in type; the result has the base's.
void lower_pow(Node& node) {
  const DataType base = node.type(0);
  const DataType common = type_of_powers(node);
  const TensorId a = cast(node, node.input(0), common);
  const TensorId b = cast(node, node.input(1), common);
  node.give(0, cast(node, combine(node, BinaryKind::pow, a, b), base));
}

void lower_prelu(Node& node) {
  need_same_types(node);
  if (broadcast(node.shape(0), node.shape(1)) != node.shape(0))
    node.fail(fmt::format("the slope '{}' has shape {}, which does not spread over the input {}",
                          node.tensor(1).name, to_text(node.shape(1)), to_text(node.shape(0))));
  node.give(0, combine(node, BinaryKind::prelu, node.input(0), node.input(1)));
}

}  // namespace millrace::formats::onnx
