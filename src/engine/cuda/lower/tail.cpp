#include "engine/cuda/lower/tail.h"

#include <array>
#include <cassert>
#include <utility>

#include "engine/cuda/lower/places.h"

namespace millrace::engine::cuda {
namespace {

using network::BinaryKind;
using network::UnaryKind;

// Both lists have one order.
static_assert(static_cast<int>(UnaryKind::relu) == function_relu);
static_assert(static_cast<int>(UnaryKind::atanh) == function_atanh);
static_assert(static_cast<int>(UnaryKind::logical_not) == function_logical_not);

struct BothWays {
  Function function, reversed;
};
// In the order of network::BinaryKind.
constexpr std::array binary_functions{BothWays{function_add, function_add},
                                      BothWays{function_sub, function_reversed_sub},
                                      BothWays{function_mul, function_mul},
                                      BothWays{function_div, function_reversed_div},
                                      BothWays{function_pow, function_reversed_pow},
                                      BothWays{function_max, function_max},
                                      BothWays{function_min, function_min},
                                      BothWays{function_prelu, function_reversed_prelu},
                                      BothWays{function_mod, function_reversed_mod},
                                      BothWays{function_fmod, function_reversed_fmod},
                                      BothWays{function_logical_and, function_logical_and},
                                      BothWays{function_logical_or, function_logical_or},
                                      BothWays{function_logical_xor, function_logical_xor}};
static_assert(binary_functions.size() == static_cast<std::size_t>(BinaryKind::logical_xor) + 1);

/// x sigmoid(x) is two layers but one function; so is x hard_sigmoid(x).
std::optional<Function> function_of_gate(Fused::Kind kind) {
  if (kind == Fused::Kind::swish) return function_swish;
  if (kind == Fused::Kind::hard_swish) return function_hard_swish;
  return std::nullopt;
}

}  // namespace

Function function_of(const network::Unary& op) { return static_cast<Function>(op.kind); }

Function function_of(const network::Binary& op, bool reversed) {
  const BothWays& ways = binary_functions[static_cast<std::size_t>(op.kind)];
  return reversed ? ways.reversed : ways.function;
}

Tail::Tail(Builder& builder, network::Shape result, std::vector<int> dimensions)
    : builder_(builder), result_(std::move(result)), dimensions_(std::move(dimensions)) {}

void Tail::add(Function function, double alpha, double beta) {
  assert(epilogue_.count < max_functions);
  epilogue_.functions[epilogue_.count++] = {function, -1, static_cast<float>(alpha),
                                            static_cast<float>(beta)};
}

void Tail::add(Function function, const Value& operand, Place place) {
  assert(operands_.size() < max_operands);
  const auto number = operands_.size();
  epilogue_.functions[epilogue_.count - 1].function = function;
  epilogue_.functions[epilogue_.count - 1].operand = static_cast<int>(number);
  epilogue_.operands[number] = place;
  operands_.push_back(operand);
}

void Tail::add(Function function, TensorId operand, double alpha) {
  add(function, alpha, 0);
  const Value value = builder_.value(operand);
  const network::Shape strides = spread_strides(builder_.tensor(operand), value.form, result_);
  network::Shape along;
  for (const int d : dimensions_) along.push_back(d < 0 ? 0 : strides[static_cast<std::size_t>(d)]);
  add(function, value, place_with(element_of(builder_.tensor(operand), value.form), along));
}

void Tail::add_by_channel(Function function, const Value& numbers) {
  add(function, 0, 0);
  network::Shape along;
  for (const int d : dimensions_) along.push_back(d == 1 ? 1 : 0);
  add(function, numbers, place_with(element_float32, along));
}

void Tail::add_layer(LayerId id, TensorId of) {
  const network::Layer& layer = builder_.layer(id);
  if (const auto* unary = std::get_if<network::Unary>(&layer.op))
    return add(function_of(*unary), unary->alpha, unary->beta);
  const bool reversed = layer.inputs[0] != of;
  add(function_of(std::get<network::Binary>(layer.op), reversed), layer.inputs[reversed ? 0 : 1]);
}

void Tail::add(const Group& group, std::size_t from) {
  for (std::size_t i = from; i < group.tail.size(); ++i) {
    const Fused& fused = group.tail[i];
    const TensorId before =
        i == 0 ? builder_.layer(group.head).outputs[0] : group.tail[i - 1].result;
    if (const auto gate = function_of_gate(fused.kind))
      add(*gate, 1);
    else
      add_layer(fused.layers.front(), before);
  }
}

Epilogue Tail::placed(Epilogue epilogue, const Execution& execution) const {
  for (std::size_t i = 0; i < operands_.size(); ++i)
    epilogue.operands[i].data = execution.pointer(operands_[i]);
  return epilogue;
}

bool is_relu(const network::Network& network, const Fused& fused) {
  const auto* op = std::get_if<network::Unary>(&network[fused.layers.front()].op);
  return fused.kind == Fused::Kind::unary && op != nullptr && op->kind == network::UnaryKind::relu;
}

bool fits_in_tail(const network::Network& network, const Group& group) {
  int operands = 1;
  for (const Fused& fused : group.tail) {
    const network::Tensor& result = network[fused.result];
    if (fused.kind == Fused::Kind::attention || result.type != network::DataType::float32)
      return false;
    if (fused.operand.valid()) ++operands;
  }
  return operands <= max_operands && group.tail.size() + 2 <= max_functions;
}

}  // namespace millrace::engine::cuda
