#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"

namespace millrace::network {
namespace {

enum class Types { any, number, integer, product, floating, boolean };

bool contains(Types types, DataType type) {
  using enum DataType;
  if (types == Types::boolean) return type == boolean;
  const bool is_floating = type == float16 || type == float32 || type == float64;
  if (types == Types::integer) return !is_floating && type != boolean;
  if (types == Types::any || is_floating) return true;
  if (types == Types::number) return type != boolean;
  return types == Types::product &&
         (type == int32 || type == uint32 || type == int64 || type == uint64);
}

struct TypesOf {
  Types operator()(const Conv&) const { return Types::floating; }
  Types operator()(const ConvTranspose&) const { return Types::floating; }
  Types operator()(const Gemm&) const { return Types::product; }
  Types operator()(const MatMul&) const { return Types::product; }
  Types operator()(const BatchNormalization&) const { return Types::floating; }
  Types operator()(const Lrn&) const { return Types::floating; }
  Types operator()(const Pool& op) const {
    return op.kind == PoolKind::max ? Types::number : Types::floating;
  }
  Types operator()(const Unary& op) const {
    using enum UnaryKind;
    if (op.kind == logical_not) return Types::boolean;
    const bool of_integers = op.kind == relu || op.kind == clip || op.kind == neg ||
                             op.kind == UnaryKind::abs || op.kind == sign;
    return of_integers ? Types::number : Types::floating;
  }
  Types operator()(const Binary& op) const {
    if (is_of_bits(op.kind)) return Types::integer;
    return is_logical(op.kind) ? Types::boolean : Types::number;
  }
  Types operator()(const Compare&) const { return Types::any; }
  Types operator()(const Test&) const { return Types::floating; }
  Types operator()(const Normalization&) const { return Types::floating; }
  Types operator()(const Where&) const { return Types::boolean; }
  Types operator()(const TopK&) const { return Types::number; }
  Types operator()(const OneHot&) const { return Types::number; }
  Types operator()(const GridSample&) const { return Types::floating; }
  Types operator()(const NonMaxSuppression&) const { return Types::floating; }
  Types operator()(const RoiAlign&) const { return Types::floating; }
  Types operator()(const CumSum&) const { return Types::number; }
  Types operator()(const Recurrent&) const { return Types::floating; }
  Types operator()(const ScatterElements& op) const { return scattered(op.reduction); }
  Types operator()(const ScatterNd& op) const { return scattered(op.reduction); }
  Types operator()(const Resize& op) const {
    return op.mode == ResizeMode::nearest ? Types::any : Types::number;
  }
  Types operator()(const Softmax&) const { return Types::floating; }
  Types operator()(const Reduce&) const { return Types::number; }
  Types operator()(const ArgMax&) const { return Types::number; }
  template <class Move>
  Types operator()(const Move&) const {
    return Types::any;
  }

 private:
  static Types scattered(Reduction reduction) {
    return reduction == Reduction::none ? Types::any : Types::number;
  }
};

/// The number of spatial dimensions of operators with a window.
std::optional<std::size_t> window_rank(const Operator& op) {
  if (const auto* conv = std::get_if<Conv>(&op)) return conv->window.kernel.size();
  if (const auto* conv = std::get_if<ConvTranspose>(&op)) return conv->window.kernel.size();
  if (const auto* conv = std::get_if<ConvInteger>(&op)) return conv->window.kernel.size();
  if (const auto* conv = std::get_if<QLinearConv>(&op)) return conv->window.kernel.size();
  if (const auto* pool = std::get_if<Pool>(&op)) return pool->window.kernel.size();
  return std::nullopt;
}

std::string types_text(const Network& network, const Layer& layer) {
  std::string text;
  for (const TensorId id : layer.inputs)
    if (id.valid()) text += (text.empty() ? "" : ", ") + std::string(to_text(network[id].type));
  return text;
}

/// Whether the types fit each other.
class TypesAgree {
 public:
  TypesAgree(const Network& network, const Layer& layer) : network_(network), layer_(layer) {}

  bool operator()(const Gather&) const { return is(1, whole); }
  bool operator()(const GatherElements&) const { return is(1, whole); }
  bool operator()(const GatherNd&) const { return is(1, whole); }
  bool operator()(const ScatterElements&) const { return is(1, whole) && is(2, {input(0)}); }
  bool operator()(const ScatterNd&) const { return is(1, whole) && is(2, {input(0)}); }
  bool operator()(const Where&) const { return is(2, {input(1)}); }
  bool operator()(const OneHot&) const { return true; }
  bool operator()(const VaryingPart&) const { return true; }
  bool operator()(const Opaque&) const { return true; }
  bool operator()(const NonMaxSuppression&) const { return is(0, single) && is(1, single); }
  bool operator()(const RoiAlign&) const { return is(1, {input(0)}) && is(2, whole); }
  bool operator()(const Recurrent&) const {
    for (const std::size_t i : {1u, 2u, 3u, 5u, 6u, 7u})
      if (!is(i, {input(0)})) return false;
    return is(4, {DataType::int32});
  }
  bool operator()(const Binary& op) const {
    return op.kind == BinaryKind::pow ? contains(Types::number, input(1)) : all_equal();
  }
  bool operator()(const QuantizeLinear&) const {
    const bool is_integer = input(0) == DataType::int32;
    return (is_integer || is(0, real)) && is(1, {is_integer ? DataType::float32 : input(0)}) &&
           is(2, {output(0)}) && among(small, output(0));
  }
  bool operator()(const DequantizeLinear&) const {
    return (is(0, small) || is(0, {DataType::int32})) && is(1, real) && is(2, {input(0)}) &&
           output(0) == input(1);
  }
  bool operator()(const DynamicQuantizeLinear&) const { return is(0, single); }
  bool operator()(const ConvInteger&) const { return are_factors({0, 2}, {1, 3}); }
  bool operator()(const MatMulInteger&) const { return are_factors({0, 2}, {1, 3}); }
  bool operator()(const QLinearConv&) const { return are_quantised(); }
  bool operator()(const QLinearMatMul&) const { return are_quantised(); }
  template <class Other>
  bool operator()(const Other&) const {
    return all_equal();
  }

 private:
  using List = std::initializer_list<DataType>;
  static constexpr List real{DataType::float32, DataType::float16};
  static constexpr List single{DataType::float32};
  static constexpr List whole{DataType::int32, DataType::int64};
  static constexpr List bytes{DataType::int8, DataType::uint8};
  static constexpr List small{DataType::int8, DataType::uint8, DataType::int16, DataType::uint16};

  static bool among(List list, DataType type) {
    return std::find(list.begin(), list.end(), type) != list.end();
  }
  DataType input(std::size_t i) const { return network_[layer_.inputs[i]].type; }
  DataType output(std::size_t i) const { return network_[layer_.outputs[i]].type; }
  /// An input that is left out has any type.
  bool is(std::size_t i, List list) const {
    return i >= layer_.inputs.size() || !layer_.inputs[i].valid() || among(list, input(i));
  }
  /// Where a factor of an integer product and its zero point are.
  struct Factor {
    std::size_t values, zero;
  };
  bool are_factors(Factor a, Factor b) const {
    return is(a.values, bytes) && is(a.zero, {input(a.values)}) && is(b.values, bytes) &&
           is(b.zero, {input(b.values)});
  }
  /// Two factors and the result, each with scale and zero point, and a bias.
  bool are_quantised() const {
    return are_factors({0, 2}, {3, 5}) && is(1, single) && is(4, single) && is(6, single) &&
           is(7, {output(0)}) && among(bytes, output(0)) && is(8, {DataType::int32});
  }
  bool all_equal() const {
    for (std::size_t i = 0; i < layer_.inputs.size(); ++i)
      if (!is(i, {input(0)})) return false;
    return true;
  }

  const Network& network_;
  const Layer& layer_;
};

}  // namespace

Verdict can_evaluate(const Network& network, LayerId id) {
  const Layer& layer = network[id];
  const std::string_view name = name_of(layer.op);
  if (!contains(std::visit(TypesOf{}, layer.op), network[layer.inputs[0]].type) ||
      !std::visit(TypesAgree{network, layer}, layer.op))
    return Verdict::no(fmt::format("{} of {} is not supported", name, types_text(network, layer)));
  const auto rank = window_rank(layer.op);
  if (rank && (*rank < 1 || *rank > 3))
    return Verdict::no(
        fmt::format("{} over {} spatial dimensions is not supported; 1 to 3 are", name, *rank));
  const auto* depth_to_space = std::get_if<DepthToSpace>(&layer.op);
  const std::size_t dimensions = network[layer.inputs[0]].shape.size();
  if (depth_to_space != nullptr && dimensions != 4)
    return Verdict::no(fmt::format("DepthToSpace of {} dimensions is not supported; 4 are",
                                   dimensions));
  return Verdict::yes();
}

}  // namespace millrace::network
