#include "network/evaluate/exact.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"
#include "network/evaluate/evaluate.h"
#include "network/operator_kinds.h"

namespace millrace::network {
namespace {

constexpr DataType narrow_type = DataType::float32, wide_type = DataType::float64;

/// The same layers on wider tensors.
class WideNetwork {
 public:
  explicit WideNetwork(const Network& network) : result_(network) {
    result_.layers.clear();
    result_.metadata.clear();
    for (Tensor& tensor : result_.tensors) {
      tensor.quantized.reset();
      if (tensor.type != narrow_type) continue;
      tensor.type = wide_type;
      tensor.constant.reset();
    }
    for (const Layer& layer : network.layers) {
      for (const TensorId id : layer.inputs) take_constant(network, id);
      add(layer);
    }
    for (const TensorId id : network.outputs) take_constant(network, id);
  }
  Network take() { return std::move(result_); }

 private:
  /// Takes only constants that are read: the network may be a part of another one.
  void take_constant(const Network& network, TensorId id) {
    if (!id.valid() || !network[id].constant || result_[id].constant) return;
    result_.tensors[id.index].constant = converted(*network[id].constant, result_[id].type);
  }

  void add(const Layer& layer) {
    result_.layers.push_back(layer);
    if (can_evaluate(result_, LayerId(result_.layers.size() - 1))) return;
    result_.layers.pop_back();
    Layer narrow = layer;
    for (TensorId& id : narrow.inputs)
      if (is_wide(id)) id = cast(id, narrowed(id));
    std::vector<Layer> after;
    for (TensorId& id : narrow.outputs) {
      if (!is_wide(id)) continue;
      const TensorId made = narrowed(id);
      after.push_back({layer.name + " widened", Cast{}, {made}, {id}});
      id = made;
    }
    result_.layers.push_back(std::move(narrow));
    result_.layers.insert(result_.layers.end(), after.begin(), after.end());
  }

  bool is_wide(TensorId id) const { return id.valid() && result_[id].type == wide_type; }

  TensorId narrowed(TensorId id) {
    result_.tensors.push_back({result_[id].name + " narrowed", narrow_type, result_[id].shape, {}});
    return TensorId(result_.tensors.size() - 1);
  }

  TensorId cast(TensorId from, TensorId to) {
    result_.layers.push_back({result_[to].name, Cast{}, {from}, {to}});
    return to;
  }

  Network result_;
};

/// Whether the formulas of libraries add numbers near 1, whatever is left of them.
bool adds_to_one(const Operator& op) {
  using enum UnaryKind;
  const auto* unary = std::get_if<Unary>(&op);
  if (unary == nullptr) return false;
  constexpr std::array kinds{sigmoid, hard_sigmoid, tanh, elu,   celu,       selu,     softplus,
                             mish,    erf,          gelu, swish, hard_swish, gelu_tanh};
  return std::ranges::find(kinds, unary->kind) != kinds.end();
}

void round_by_chance(const Layer& layer, std::span<const View> made, Random& random) {
  constexpr double unit = 0x1p-24;
  const double least = adds_to_one(layer.op) ? 1 : 0;
  for (const View& view : made) {
    if (!view.present() || view.type != wide_type) continue;
    double* const values = view.as<double>();
    const std::int64_t count = element_count({view.shape.begin(), view.shape.end()});
    for (std::int64_t i = 0; i < count; ++i)
      values[i] += unit * (2 * random.unit() - 1) * std::max(std::abs(values[i]), least);
  }
}

}  // namespace

std::vector<Array> evaluate_in_float64(const Network& network, std::span<const Array> inputs,
                                       std::optional<std::uint64_t> rounding) {
  std::vector<Array> given;
  for (const Array& input : inputs)
    given.push_back(input.type == narrow_type ? converted(input, wide_type) : input);
  const Network widened = WideNetwork(network).take();
  if (!rounding) return evaluate(widened, given);
  Random random(*rounding);
  return evaluate(widened, given, [&](LayerId layer, std::span<const View> made) {
    round_by_chance(widened[layer], made, random);
    return true;
  });
}

}  // namespace millrace::network
