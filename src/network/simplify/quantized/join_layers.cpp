#include "network/simplify/quantized/join_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

constexpr std::int64_t most_joined = 32'768;  // products of bytes that a sum surely holds

bool is_joined_type(DataType type) { return type == DataType::int8 || type == DataType::uint8; }

bool is_single(const Shape& shape) { return element_count(shape) == 1; }

std::int32_t first_byte(const Array& array) {
  return array.type == DataType::int8 ? std::int32_t{array.values<std::int8_t>()[0]}
                                      : std::int32_t{array.values<std::uint8_t>()[0]};
}

class JoinLayers {
 public:
  explicit JoinLayers(Network network)
      : network_(std::move(network)), before_(topology(network_)) {}

  Network run() {
    for (std::size_t i = 0; i < network_.layers.size(); ++i)
      if (std::holds_alternative<Conv>(network_.layers[i].op)) join(network_.layers[i]);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      const auto* pool = std::get_if<Pool>(&network_.layers[i].op);
      if (pool && pool->kind == PoolKind::max) join_pool(network_.layers[i]);
    }
    for (std::size_t i = 0; i < network_.layers.size(); ++i)
      if (std::holds_alternative<Concat>(network_.layers[i].op)) join_concat(network_.layers[i]);
    insert_added();
    return remove_unused(std::move(network_));
  }

 private:
  void join(const Layer& conv) {
    const Layer* const source = dequantizing(conv.inputs[0]);
    const std::optional<LayerId> last = quantizing(conv.outputs[0]);
    if (!source || !last || !suits(conv) || !bias_suits(conv, *source)) return;
    const Tensor weights = network_[conv.inputs[1]];
    const Layer quantize = network_[*last];
    const DataType result = network_[quantize.outputs[0]].type;
    std::vector<TensorId> inputs{source->inputs[0], source->inputs[1],
                                 zero_or(*source, network_[source->inputs[0]].type)};
    inputs.push_back(add(weights.name + "_integers", weights.quantized->values));
    inputs.push_back(add(weights.name + "_scale", weights.quantized->scale));
    inputs.push_back(weights.quantized->zero_point
                         ? add(weights.name + "_zero", *weights.quantized->zero_point)
                         : add_zero(weights.name, weights.quantized->values.type));
    inputs.push_back(quantize.inputs[1]);
    inputs.push_back(zero_or(quantize, result));
    if (conv.inputs.size() > 2 && conv.inputs[2].valid())
      inputs.push_back(add(network_[conv.inputs[2]].name + "_integers",
                           network_[conv.inputs[2]].quantized->values));
    const auto& op = std::get<Conv>(conv.op);
    Layer& joined = network_.layers[last->index];
    joined.op = QLinearConv{op.window, op.groups};
    joined.name = conv.name;
    joined.inputs = std::move(inputs);
  }

  /// The largest of integers stands for the largest number, where both have one scale.
  void join_pool(const Layer& pool) {
    const Layer* const source = dequantizing(pool.inputs[0]);
    const std::optional<LayerId> last = quantizing(pool.outputs[0]);
    const bool has_indices = pool.outputs.size() > 1 && pool.outputs[1].valid();
    if (!source || !last || has_indices || network_[*last].inputs[0] != pool.outputs[0]) return;
    if (!same_steps(*source, network_[*last])) return;
    Layer& joined = network_.layers[last->index];
    const TensorId integers = source->inputs[0];
    joined.op = pool.op;
    joined.name = pool.name;
    joined.inputs = {integers};
  }

  void join_concat(const Layer& concat) {
    const std::optional<LayerId> last = quantizing(concat.outputs[0]);
    if (!last || network_[*last].inputs[0] != concat.outputs[0]) return;
    const auto has_integers = [this](TensorId part) { return dequantizing(part) != nullptr; };
    if (std::none_of(concat.inputs.begin(), concat.inputs.end(), has_integers)) return;
    const Layer quantize = network_[*last];
    std::map<TensorId, TensorId> quantized;
    std::vector<TensorId> parts;
    for (const TensorId part : concat.inputs) {
      if (!quantized.contains(part)) quantized[part] = quantized_as(quantize, part, *last);
      parts.push_back(quantized[part]);
    }
    Layer& joined = network_.layers[last->index];
    joined.op = concat.op;
    joined.name = concat.name;
    joined.inputs = std::move(parts);
  }

  /// The part's integers in the steps that the layer makes; `before` what reads them.
  TensorId quantized_as(const Layer& quantize, TensorId part, LayerId before) {
    if (const Layer* const source = dequantizing(part); source && same_steps(*source, quantize))
      return source->inputs[0];
    const DataType type = network_[quantize.outputs[0]].type;
    network_.tensors.push_back({network_[part].name + "_integers", type, network_[part].shape, {}});
    Layer own{unused_name(quantize.name),
              quantize.op,
              quantize.inputs,
              {TensorId(network_.tensors.size() - 1)}};
    own.inputs[0] = part;
    added_[before.index].push_back(std::move(own));
    return TensorId(network_.tensors.size() - 1);
  }

  std::string unused_name(const std::string& base) {
    if (names_.empty())
      for (const Layer& layer : network_.layers) names_.insert(layer.name);
    for (int number = 1;; ++number)
      if (std::string name = base + "_" + std::to_string(number); names_.insert(name).second)
        return name;
  }

  void insert_added() {
    if (added_.empty()) return;
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      for (Layer& layer : added_[i]) layers.push_back(std::move(layer));
      layers.push_back(std::move(network_.layers[i]));
    }
    network_.layers = std::move(layers);
  }

  /// Whether integers of one stand for the same numbers as those of the other.
  bool same_steps(const Layer& dequantize, const Layer& quantize) const {
    const DataType type = network_[dequantize.inputs[0]].type;
    const auto& a = network_[dequantize.inputs[1]].constant;
    const auto& b = network_[quantize.inputs[1]].constant;
    return type == network_[quantize.outputs[0]].type && a && b && a->values<float>()[0] > 0 &&
           a->values<float>()[0] == b->values<float>()[0] && known_zero(dequantize) &&
           known_zero(dequantize) == known_zero(quantize);
  }
  /// Nothing: only a frame knows it.
  std::optional<std::int32_t> known_zero(const Layer& layer) const {
    if (layer.inputs.size() < 3 || !layer.inputs[2].valid()) return 0;
    const Tensor& zero = network_[layer.inputs[2]];
    if (!zero.constant || !is_single(zero.shape)) return std::nullopt;
    return first_byte(*zero.constant);
  }

  /// The layer that makes numbers of 8-bit integers with one scale.
  const Layer* dequantizing(TensorId tensor) const {
    const auto producer = before_.producer[tensor.index];
    if (!producer || !std::holds_alternative<DequantizeLinear>(network_[*producer].op))
      return nullptr;
    const Layer& layer = network_[*producer];
    const Tensor& scale = network_[layer.inputs[1]];
    const bool fits = is_joined_type(network_[layer.inputs[0]].type) && is_single(scale.shape) &&
                      scale.constant && scale.type == DataType::float32;
    return fits ? &layer : nullptr;
  }

  /// The layer alone that reads the tensor.
  std::optional<LayerId> only_reader(TensorId tensor) const {
    const auto& readers = before_.consumers[tensor.index];
    if (before_.is_output[tensor.index] || readers.size() != 1) return std::nullopt;
    return readers[0];
  }

  /// The layer that makes 8-bit integers of the tensor, perhaps of its positive part.
  std::optional<LayerId> quantizing(TensorId tensor) const {
    auto reader = only_reader(tensor);
    bool positive = false;
    if (reader) {
      const auto* unary = std::get_if<Unary>(&network_[*reader].op);
      positive = unary && unary->kind == UnaryKind::relu;
      if (positive) reader = only_reader(network_[*reader].outputs[0]);
    }
    if (!reader || !std::holds_alternative<QuantizeLinear>(network_[*reader].op))
      return std::nullopt;
    const Layer& layer = network_[*reader];
    const Tensor& scale = network_[layer.inputs[1]];
    const DataType type = network_[layer.outputs[0]].type;
    const bool fits = is_joined_type(type) && is_single(scale.shape) &&
                      scale.type == DataType::float32 && (!positive || zero_is_least(layer, type));
    return fits ? reader : std::nullopt;
  }

  /// Then what is negative becomes zero by clamping.
  bool zero_is_least(const Layer& layer, DataType type) const {
    const std::int32_t least = type == DataType::int8 ? std::numeric_limits<std::int8_t>::min() : 0;
    if (layer.inputs.size() < 3 || !layer.inputs[2].valid()) return least == 0;
    const Tensor& zero = network_[layer.inputs[2]];
    return zero.constant && first_byte(*zero.constant) == least;
  }

  bool suits(const Layer& conv) const {
    const Tensor& weights = network_[conv.inputs[1]];
    if (!weights.quantized || weights.shape.size() < 3 || weights.shape.size() > 4) return false;
    const auto& [values, scale, zero, scaling] = *weights.quantized;
    const bool by_filter = scaling.block == 0 && scaling.axis == 0 && scale.shape.size() == 1 &&
                           scale.shape[0] == weights.shape[0];
    return is_joined_type(values.type) && scale.type == DataType::float32 &&
           (is_single(scale.shape) || by_filter) &&
           element_count(weights.shape) / std::max<std::int64_t>(weights.shape[0], 1) <=
               most_joined;
  }

  /// Integers in steps of the source's scale times the weights'.
  bool bias_suits(const Layer& conv, const Layer& source) const {
    if (conv.inputs.size() < 3 || !conv.inputs[2].valid()) return true;
    const Tensor& bias = network_[conv.inputs[2]];
    if (!bias.quantized || bias.quantized->values.type != DataType::int32 ||
        bias.quantized->scale.type != DataType::float32)
      return false;
    if (bias.quantized->zero_point)
      for (const std::int32_t zero : bias.quantized->zero_point->values<std::int32_t>())
        if (zero != 0) return false;
    const auto steps = bias.quantized->scale.values<float>();
    const auto scales = network_[conv.inputs[1]].quantized->scale.values<float>();
    const double step = double{network_[source.inputs[1]].constant->values<float>()[0]};
    for (std::size_t i = 0; i < std::max(steps.size(), scales.size()); ++i) {
      const double expected = step * double{scales[scales.size() == 1 ? 0 : i]};
      const double found = double{steps[steps.size() == 1 ? 0 : i]};
      if (!(std::abs(found - expected) <= 1e-5 * std::abs(expected))) return false;
    }
    return true;
  }

  TensorId zero_or(const Layer& layer, DataType type) {
    if (layer.inputs.size() > 2 && layer.inputs[2].valid()) return layer.inputs[2];
    return add_zero(layer.name, type);
  }
  TensorId add_zero(const std::string& name, DataType type) {
    constexpr std::array<std::uint8_t, 1> zero{0};
    return add(name + "_zero", make_array<std::uint8_t>(type, {}, zero));
  }
  TensorId add(const std::string& name, Array array) {
    network_.tensors.push_back({name, array.type, array.shape, std::move(array)});
    return TensorId(network_.tensors.size() - 1);
  }

  Network network_;
  Topology before_;
  std::map<std::size_t, std::vector<Layer>> added_;  // before the layer of this index
  std::set<std::string> names_;
};

}  // namespace

Network join_quantized_layers(Network network) { return JoinLayers(std::move(network)).run(); }

}  // namespace millrace::network
