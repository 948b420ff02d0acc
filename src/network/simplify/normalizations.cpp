// Layer and RMS normalisation that an exporter wrote with means, squares and roots.
#include <algorithm>
#include <optional>

#include "network/operator_kinds.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// What one match has found so far.
struct Found {
  TensorId data;
  std::int64_t axis = 0;
  float epsilon = 0;
  bool centred = false;
  std::vector<LayerId> layers;  // that vanish, the last one apart
};

class Matcher {
 public:
  explicit Matcher(const Network& network) : network_(network), topology_(topology(network)) {}

  const Topology& topology_of_network() const { return topology_; }

  /// The normalisation that this layer ends: x' / sqrt(mean(x' * x') + epsilon).
  std::optional<Found> match(LayerId last) const {
    const Layer& layer = network_[last];
    const auto* const binary = std::get_if<Binary>(&layer.op);
    if (binary == nullptr) return std::nullopt;
    if (binary->kind == BinaryKind::div)
      return match(last, layer.inputs[0], layer.inputs[1], false);
    if (binary->kind != BinaryKind::mul) return std::nullopt;
    if (auto found = match(last, layer.inputs[0], layer.inputs[1], true)) return found;
    return match(last, layer.inputs[1], layer.inputs[0], true);
  }

  /// A constant that the layer multiplies the tensor with (or adds), if nobody else reads that.
  std::optional<std::pair<LayerId, TensorId>> next(TensorId tensor, BinaryKind kind,
                                                   std::int64_t axis) const {
    const auto& readers = topology_.consumers[tensor.index];
    if (readers.size() != 1 || topology_.is_output[tensor.index]) return std::nullopt;
    const Layer& layer = network_[readers[0]];
    const auto* const binary = std::get_if<Binary>(&layer.op);
    if (binary == nullptr || binary->kind != kind) return std::nullopt;
    const TensorId other = layer.inputs[layer.inputs[0] == tensor ? 1 : 0];
    if (!is_spread(other, tensor, axis)) return std::nullopt;
    return std::pair(readers[0], other);
  }

 private:
  using Layers = std::vector<LayerId>;

  std::optional<Found> match(LayerId last, TensorId data, TensorId root, bool reciprocal) const {
    Found found;
    const auto variance = mean_of_squares(root, reciprocal, found);
    if (!variance) return std::nullopt;
    const auto squared = squared_of(*variance, found);
    if (!squared || !is_same(*squared, data, found)) return std::nullopt;
    if (network_[data].type != DataType::float32 ||
        network_[data].shape != network_[network_[last].outputs[0]].shape)
      return std::nullopt;
    found.data = data;
    Found whole = found;
    if (const auto centred = centred_of(data, whole)) {
      whole.centred = true;
      whole.data = *centred;
      if (vanish(whole, last)) return whole;
    }
    return vanish(found, last) ? std::optional(found) : std::nullopt;
  }

  const Layer* producer(TensorId tensor) const {
    const auto id = tensor.valid() ? topology_.producer[tensor.index] : std::nullopt;
    return id ? &network_[*id] : nullptr;
  }

  const Layer* binary(TensorId tensor, BinaryKind kind) const {
    const Layer* const layer = producer(tensor);
    const auto* const op = layer != nullptr ? std::get_if<Binary>(&layer->op) : nullptr;
    return op != nullptr && op->kind == kind ? layer : nullptr;
  }

  const Layer* unary(TensorId tensor, UnaryKind kind) const {
    const Layer* const layer = producer(tensor);
    const auto* const op = layer != nullptr ? std::get_if<Unary>(&layer->op) : nullptr;
    return op != nullptr && op->kind == kind ? layer : nullptr;
  }

  std::optional<float> number(TensorId tensor) const {
    const auto& constant = network_[tensor].constant;
    if (!constant || constant->type != DataType::float32 || element_count(constant->shape) != 1)
      return std::nullopt;
    return constant->values<float>()[0];
  }

  void note(TensorId tensor, Found& found) const {
    found.layers.push_back(*topology_.producer[tensor.index]);
  }

  /// From sqrt(v + epsilon), or one over it, to v.
  std::optional<TensorId> mean_of_squares(TensorId root, bool reciprocal, Found& found) const {
    TensorId inner;
    const float exponent = reciprocal ? -0.5f : 0.5f;
    if (const Layer* const power = binary(root, BinaryKind::pow);
        power != nullptr && number(power->inputs[1]) == exponent) {
      note(root, found);
      inner = power->inputs[0];
    } else {
      const auto below = reciprocal ? reciprocal_of(root, found) : std::optional(root);
      const Layer* const sqrt = below ? unary(*below, UnaryKind::sqrt) : nullptr;
      if (sqrt == nullptr) return std::nullopt;
      note(*below, found);
      inner = sqrt->inputs[0];
    }
    const Layer* const sum = binary(inner, BinaryKind::add);
    if (sum == nullptr) return std::nullopt;
    note(inner, found);
    for (const std::size_t at : {0, 1})
      if (const auto epsilon = number(sum->inputs[at])) {
        found.epsilon = *epsilon;
        return sum->inputs[1 - at];
      }
    return std::nullopt;
  }

  std::optional<TensorId> reciprocal_of(TensorId tensor, Found& found) const {
    if (const Layer* const layer = unary(tensor, UnaryKind::reciprocal)) {
      note(tensor, found);
      return layer->inputs[0];
    }
    const Layer* const one_over = binary(tensor, BinaryKind::div);
    if (one_over == nullptr || number(one_over->inputs[0]) != 1.f) return std::nullopt;
    note(tensor, found);
    return one_over->inputs[1];
  }

  /// What a mean over the last dimensions, which are kept, is of; and from which dimension.
  std::optional<TensorId> mean_of(TensorId tensor, std::int64_t& axis) const {
    const Layer* const layer = producer(tensor);
    const auto* const op = layer != nullptr ? std::get_if<Reduce>(&layer->op) : nullptr;
    if (op == nullptr || op->kind != ReduceKind::mean || op->axes.empty()) return std::nullopt;
    const std::size_t rank = network_[layer->inputs[0]].shape.size();
    if (network_[tensor].shape.size() != rank) return std::nullopt;
    for (std::size_t i = 0; i < op->axes.size(); ++i)
      if (op->axes[i] != static_cast<std::int64_t>(rank - op->axes.size() + i)) return std::nullopt;
    axis = op->axes.front();
    return layer->inputs[0];
  }

  /// The tensor whose squares the variance is the mean of.
  std::optional<TensorId> squared_of(TensorId variance, Found& found) const {
    const auto squares = mean_of(variance, found.axis);
    if (!squares) return std::nullopt;
    note(variance, found);
    note_if_made(*squares, found);
    if (const Layer* const power = binary(*squares, BinaryKind::pow))
      return number(power->inputs[1]) == 2.f ? std::optional(power->inputs[0]) : std::nullopt;
    const Layer* const product = binary(*squares, BinaryKind::mul);
    if (product == nullptr || product->inputs[0] != product->inputs[1]) return std::nullopt;
    return product->inputs[0];
  }

  void note_if_made(TensorId tensor, Found& found) const {
    if (producer(tensor) != nullptr) note(tensor, found);
  }

  /// x in x - mean(x), with the mean over the same dimensions as the variance.
  std::optional<TensorId> centred_of(TensorId tensor, Found& found) const {
    const Layer* const difference = binary(tensor, BinaryKind::sub);
    if (difference == nullptr) return std::nullopt;
    std::int64_t axis = 0;
    const auto of = mean_of(difference->inputs[1], axis);
    if (!of || *of != difference->inputs[0] || axis != found.axis) return std::nullopt;
    note(tensor, found);
    note(difference->inputs[1], found);
    return of;
  }

  /// Some exporters write the difference twice.
  bool is_same(TensorId a, TensorId b, Found& found) const {
    if (a == b) return true;
    const Layer *const one = binary(a, BinaryKind::sub), *const other = binary(b, BinaryKind::sub);
    if (one == nullptr || other == nullptr || one->inputs != other->inputs) return false;
    note(a, found);
    return true;
  }

  /// Nobody outside of the match reads what vanishes.
  bool vanish(const Found& found, LayerId last) const {
    Layers all = found.layers;
    all.push_back(last);
    const auto is_one = [&](LayerId id) {
      return std::find(all.begin(), all.end(), id) != all.end();
    };
    return std::all_of(found.layers.begin(), found.layers.end(), [&](LayerId id) {
      const TensorId output = network_[id].outputs[0];
      const auto& readers = topology_.consumers[output.index];
      return !topology_.is_output[output.index] &&
             std::all_of(readers.begin(), readers.end(), is_one);
    });
  }

  /// A constant with the normalised dimensions, or fewer.
  bool is_spread(TensorId id, TensorId data, std::int64_t axis) const {
    const Tensor& tensor = network_[id];
    const Shape& shape = network_[data].shape;
    const auto normalised = shape.size() - static_cast<std::size_t>(axis);
    if (!tensor.constant || tensor.type != DataType::float32 || tensor.shape.size() > shape.size())
      return false;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const std::size_t from_end = tensor.shape.size() - i;
      const bool one = tensor.shape[i] == 1;
      if (!one && (from_end > normalised || tensor.shape[i] != shape[shape.size() - from_end]))
        return false;
    }
    return true;
  }

  const Network& network_;
  Topology topology_;
};

}  // namespace

Network recognise_normalizations(Network network) {
  const Network given = network;
  const Matcher matcher(given);
  for (std::size_t i = 0; i < given.layers.size(); ++i) {
    const auto found = matcher.match(LayerId(i));
    if (!found) continue;
    Layer& layer = network.layers[i];
    layer.op = Normalization{found->axis, found->epsilon, found->centred};
    layer.inputs = {found->data};
    const auto scale = matcher.next(layer.outputs[0], BinaryKind::mul, found->axis);
    if (!scale) continue;
    layer.inputs.push_back(scale->second);
    LayerId last = scale->first;
    const TensorId scaled = given[last].outputs[0];
    if (const auto shift = matcher.next(scaled, BinaryKind::add, found->axis)) {
      layer.inputs.push_back(shift->second);
      last = shift->first;
    }
    // The whole stands where its last layer stood: constants may be made in between.
    Layer whole = layer;
    whole.outputs = given[last].outputs;
    network.layers[last.index] = std::move(whole);
    layer.outputs = {given.layers[i].outputs[0]};
  }
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
