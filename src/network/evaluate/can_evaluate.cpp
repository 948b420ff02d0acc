#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "network/evaluate/evaluate.h"

namespace millrace::network {
namespace {

enum class Types { any, number, product, floating };

bool contains(Types types, DataType type) {
  using enum DataType;
  const bool is_floating = type == float16 || type == float32 || type == float64;
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
    return op.kind == UnaryKind::relu || op.kind == UnaryKind::clip ? Types::number
                                                                    : Types::floating;
  }
  Types operator()(const Binary&) const { return Types::number; }
  Types operator()(const Resize& op) const {
    return op.mode == ResizeMode::nearest ? Types::any : Types::number;
  }
  Types operator()(const Softmax&) const { return Types::floating; }
  Types operator()(const ReduceMean&) const { return Types::number; }
  Types operator()(const ArgMax&) const { return Types::number; }
  template <class Move>
  Types operator()(const Move&) const {
    return Types::any;
  }
};

/// The number of spatial dimensions of operators with a window.
std::optional<std::size_t> window_rank(const Operator& op) {
  if (const auto* conv = std::get_if<Conv>(&op)) return conv->window.kernel.size();
  if (const auto* conv = std::get_if<ConvTranspose>(&op)) return conv->window.kernel.size();
  if (const auto* pool = std::get_if<Pool>(&op)) return pool->window.kernel.size();
  return std::nullopt;
}

bool is_power(const Operator& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary != nullptr && binary->kind == BinaryKind::pow;
}

std::string types_text(const Network& network, const Layer& layer) {
  std::string text;
  for (const TensorId id : layer.inputs)
    if (id.valid()) text += (text.empty() ? "" : ", ") + std::string(to_text(network[id].type));
  return text;
}

/// Whether the inputs' types fit each other.
bool types_agree(const Network& network, const Layer& layer) {
  const auto type_of = [&](std::size_t i) { return network[layer.inputs[i]].type; };
  if (std::holds_alternative<Gather>(layer.op))
    return type_of(1) == DataType::int32 || type_of(1) == DataType::int64;
  if (is_power(layer.op)) return contains(Types::number, type_of(1));
  return std::all_of(layer.inputs.begin(), layer.inputs.end(),
                     [&](TensorId id) { return !id.valid() || network[id].type == type_of(0); });
}

}  // namespace

Verdict can_evaluate(const Network& network, LayerId id) {
  const Layer& layer = network[id];
  const std::string_view name = name_of(layer.op);
  if (!contains(std::visit(TypesOf{}, layer.op), network[layer.inputs[0]].type) ||
      !types_agree(network, layer))
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
