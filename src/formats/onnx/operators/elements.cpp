// Functions of one element, comparisons, logic.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

void add_unary(Node& node, const Unary& op) {
  node.give(0, node.add(op, {node.input(0)}, {node.type(0), node.shape(0)}));
}

template <UnaryKind kind>
void lower_function(Node& node) {
  add_unary(node, {kind});
}

double option(const Node& node, std::string_view name, float fallback) {
  return double{node.attributes().number(name, fallback)};
}

void lower_celu(Node& node) { add_unary(node, {UnaryKind::celu, option(node, "alpha", 1)}); }

void lower_selu(Node& node) {
  add_unary(node, {UnaryKind::selu, option(node, "alpha", 1.67326319217681884765625f),
                   option(node, "gamma", 1.05070102214813232421875f)});
}

void lower_thresholded_relu(Node& node) {
  add_unary(node, {UnaryKind::thresholded_relu, option(node, "alpha", 1)});
}

void lower_shrink(Node& node) {
  add_unary(node, {UnaryKind::shrink, option(node, "lambd", 0.5f), option(node, "bias", 0)});
}

void lower_swish(Node& node) { add_unary(node, {UnaryKind::swish, option(node, "alpha", 1)}); }

void lower_gelu(Node& node) {
  const std::string form = node.attributes().text("approximate", "none");
  if (form != "none" && form != "tanh")
    node.fail(fmt::format("the attribute 'approximate' is '{}', expected none or tanh", form));
  add_unary(node, {form == "tanh" ? UnaryKind::gelu_tanh : UnaryKind::gelu});
}

/// The shape of all inputs from `first` on, broadcast together.
Shape common_shape(const Node& node, std::size_t first) {
  Shape shape = node.shape(first);
  for (std::size_t i = first + 1; i < node.optional_inputs().size(); ++i) {
    const std::optional<Shape> wider = broadcast(shape, node.shape(i));
    if (!wider)
      node.fail(fmt::format("the input '{}' has shape {}, which cannot be broadcast to {}",
                            node.tensor(i).name, to_text(node.shape(i)), to_text(shape)));
    shape = *wider;
  }
  return shape;
}

void need_booleans(const Node& node, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (node.type(i) != DataType::boolean)
      node.fail(fmt::format("the input '{}' has type {}, expected boolean", node.tensor(i).name,
                            to_text(node.type(i))));
}

template <CompareKind kind>
void lower_compare(Node& node) {
  need_same_types(node);
  const Made made{DataType::boolean, common_shape(node, 0)};
  node.give(0, node.add(Compare{kind}, node.inputs(), made));
}

template <BinaryKind kind>
void lower_logic(Node& node) {
  need_booleans(node, 2);
  const Made made{DataType::boolean, common_shape(node, 0)};
  node.give(0, node.add(Binary{kind}, node.inputs(), made));
}

void need_integers(const Node& node, bool also_signed) {
  for (std::size_t i = 0; i < node.optional_inputs().size(); ++i) {
    const std::string_view type = to_text(node.type(i));
    const bool fits = type.starts_with("uint") || (also_signed && type.starts_with("int"));
    if (!fits)
      node.fail(fmt::format("the input '{}' has type {}, expected {}", node.tensor(i).name, type,
                            also_signed ? "an integer" : "an unsigned integer"));
  }
}

template <BinaryKind kind>
void lower_bits(Node& node) {
  need_integers(node, true);
  need_same_types(node);
  node.give(0, node.add(Binary{kind}, node.inputs(), {node.type(0), common_shape(node, 0)}));
}

/// Or exclusively with ones.
void lower_bitwise_not(Node& node) {
  need_integers(node, true);
  Buffer ones(size_of(node.type(0)));
  std::ranges::fill(ones.bytes(), std::byte{0xff});
  const TensorId mask = node.add_constant(make_array(node.type(0), {}, std::move(ones)));
  node.give(0, node.add(Binary{BinaryKind::bit_xor}, {node.input(0), mask},
                        {node.type(0), node.shape(0)}));
}

void lower_bit_shift(Node& node) {
  need_integers(node, false);
  need_same_types(node);
  const std::string direction = node.attributes().text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.fail(fmt::format("the attribute 'direction' is '{}', expected LEFT or RIGHT", direction));
  const Binary op{direction == "LEFT" ? BinaryKind::shift_left : BinaryKind::shift_right};
  node.give(0, node.add(op, node.inputs(), {node.type(0), common_shape(node, 0)}));
}

void lower_not(Node& node) {
  need_booleans(node, 1);
  add_unary(node, {UnaryKind::logical_not});
}

void lower_mod(Node& node) {
  need_same_types(node);
  const bool fraction = node.type(0) == DataType::float32 || node.type(0) == DataType::float64 ||
                        node.type(0) == DataType::float16;
  const bool fmod = node.attributes().flag("fmod", false);
  if (fraction && !fmod)
    node.fail("the attribute 'fmod' is 0, expected 1 for numbers with fractions");
  const Made made{node.type(0), common_shape(node, 0)};
  node.give(0, node.add(Binary{fmod ? BinaryKind::fmod : BinaryKind::mod}, node.inputs(), made));
}

void lower_where(Node& node) {
  need_booleans(node, 1);
  if (node.type(1) != node.type(2))
    node.fail(fmt::format("the inputs '{}' and '{}' have types {} and {}, expected one type",
                          node.tensor(1).name, node.tensor(2).name, to_text(node.type(1)),
                          to_text(node.type(2))));
  const Made made{node.type(1), common_shape(node, 0)};
  node.give(0, node.add(Where{}, node.inputs(), made));
}

void lower_is_nan(Node& node) {
  const Made made{DataType::boolean, node.shape(0)};
  node.give(0, node.add(Test{TestKind::is_nan}, {node.input(0)}, made));
}

void lower_is_inf(Node& node) {
  const Test op{TestKind::is_inf, node.attributes().flag("detect_negative", true),
                node.attributes().flag("detect_positive", true)};
  node.give(0, node.add(op, {node.input(0)}, {DataType::boolean, node.shape(0)}));
}

/// The sum of all inputs, divided by their number.
void lower_mean_of_inputs(Node& node) {
  need_same_types(node);
  const Made made{node.type(0), common_shape(node, 0)};
  TensorId sum = node.input(0);
  for (std::size_t i = 1; i < node.optional_inputs().size(); ++i) {
    const std::optional<Shape> shape = broadcast(node.tensor(sum).shape, node.shape(i));
    sum = node.add(Binary{BinaryKind::add}, {sum, node.input(i)}, {node.type(0), *shape});
  }
  if (node.optional_inputs().size() == 1) return node.give(0, sum);
  const std::vector<float> number{static_cast<float>(node.optional_inputs().size())};
  TensorId count = node.add_constant(make_array<float>(DataType::float32, {}, number));
  if (node.type(0) != DataType::float32) count = node.add(Cast{}, {count}, {node.type(0), Shape()});
  node.give(0, node.add(Binary{BinaryKind::div}, {sum, count}, made));
}

void lower_cast_like(Node& node) {
  const DataType type = node.type(1);
  if (type == node.type(0)) return node.give(0, node.input(0));
  node.give(0, node.add(Cast{}, {node.input(0)}, {type, node.shape(0)}));
}

constexpr std::array table_of_elements{
    OperatorEntry{"Abs", lower_function<UnaryKind::abs>, 1, 1, ""},
    OperatorEntry{"Acos", lower_function<UnaryKind::acos>, 1, 1, ""},
    OperatorEntry{"Acosh", lower_function<UnaryKind::acosh>, 1, 1, ""},
    OperatorEntry{"And", lower_logic<BinaryKind::logical_and>, 2, 2, ""},
    OperatorEntry{"Asin", lower_function<UnaryKind::asin>, 1, 1, ""},
    OperatorEntry{"Asinh", lower_function<UnaryKind::asinh>, 1, 1, ""},
    OperatorEntry{"Atan", lower_function<UnaryKind::atan>, 1, 1, ""},
    OperatorEntry{"Atanh", lower_function<UnaryKind::atanh>, 1, 1, ""},
    OperatorEntry{"BitShift", lower_bit_shift, 2, 2, "direction"},
    OperatorEntry{"BitwiseAnd", lower_bits<BinaryKind::bit_and>, 2, 2, ""},
    OperatorEntry{"BitwiseNot", lower_bitwise_not, 1, 1, ""},
    OperatorEntry{"BitwiseOr", lower_bits<BinaryKind::bit_or>, 2, 2, ""},
    OperatorEntry{"BitwiseXor", lower_bits<BinaryKind::bit_xor>, 2, 2, ""},
    OperatorEntry{"CastLike", lower_cast_like, 2, 2, "round_mode saturate"},
    OperatorEntry{"Ceil", lower_function<UnaryKind::ceil>, 1, 1, ""},
    OperatorEntry{"Celu", lower_celu, 1, 1, "alpha"},
    OperatorEntry{"Cos", lower_function<UnaryKind::cos>, 1, 1, ""},
    OperatorEntry{"Cosh", lower_function<UnaryKind::cosh>, 1, 1, ""},
    OperatorEntry{"Einsum", lower_einsum, 1, any_number, "equation"},
    OperatorEntry{"Equal", lower_compare<CompareKind::equal>, 2, 2, ""},
    OperatorEntry{"Floor", lower_function<UnaryKind::floor>, 1, 1, ""},
    OperatorEntry{"Gelu", lower_gelu, 1, 1, "approximate"},
    OperatorEntry{"Greater", lower_compare<CompareKind::greater>, 2, 2, ""},
    OperatorEntry{"GreaterOrEqual", lower_compare<CompareKind::greater_or_equal>, 2, 2, ""},
    OperatorEntry{"IsInf", lower_is_inf, 1, 1, "detect_negative detect_positive"},
    OperatorEntry{"IsNaN", lower_is_nan, 1, 1, ""},
    OperatorEntry{"Less", lower_compare<CompareKind::less>, 2, 2, ""},
    OperatorEntry{"LessOrEqual", lower_compare<CompareKind::less_or_equal>, 2, 2, ""},
    OperatorEntry{"Log", lower_function<UnaryKind::log>, 1, 1, ""},
    OperatorEntry{"Mean", lower_mean_of_inputs, 1, any_number, ""},
    OperatorEntry{"Mod", lower_mod, 2, 2, "fmod"},
    OperatorEntry{"Neg", lower_function<UnaryKind::neg>, 1, 1, ""},
    OperatorEntry{"Not", lower_not, 1, 1, ""},
    OperatorEntry{"Or", lower_logic<BinaryKind::logical_or>, 2, 2, ""},
    OperatorEntry{"Reciprocal", lower_function<UnaryKind::reciprocal>, 1, 1, ""},
    OperatorEntry{"Selu", lower_selu, 1, 1, "alpha gamma"},
    OperatorEntry{"Shrink", lower_shrink, 1, 1, "bias lambd"},
    OperatorEntry{"Sign", lower_function<UnaryKind::sign>, 1, 1, ""},
    OperatorEntry{"Sin", lower_function<UnaryKind::sin>, 1, 1, ""},
    OperatorEntry{"Sinh", lower_function<UnaryKind::sinh>, 1, 1, ""},
    OperatorEntry{"Softsign", lower_function<UnaryKind::softsign>, 1, 1, ""},
    OperatorEntry{"Swish", lower_swish, 1, 1, "alpha"},
    OperatorEntry{"Tan", lower_function<UnaryKind::tan>, 1, 1, ""},
    OperatorEntry{"ThresholdedRelu", lower_thresholded_relu, 1, 1, "alpha"},
    OperatorEntry{"Where", lower_where, 3, 3, ""},
    OperatorEntry{"Xor", lower_logic<BinaryKind::logical_xor>, 2, 2, ""},
    OperatorEntry{"com.microsoft.Gelu", lower_gelu, 1, 1, ""},
};

}  // namespace

std::span<const OperatorEntry> element_operators() { return table_of_elements; }

}  // namespace millrace::formats::onnx
