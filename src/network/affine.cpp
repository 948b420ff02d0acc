#include "network/affine.h"

#include <algorithm>
#include <cmath>

namespace millrace::network {
namespace {

std::vector<double> values_of(const Tensor& tensor) {
  const std::span<const float> values = tensor.constant->values<float>();
  return {values.begin(), values.end()};
}

/// The constant's value per channel of a tensor of this shape; nothing if it varies elsewhere.
std::optional<std::vector<double>> per_channel(const Tensor& constant, const Shape& shape) {
  const std::size_t rank = shape.size();
  if (constant.shape.size() > rank) return std::nullopt;
  const std::size_t offset = rank - constant.shape.size();
  for (std::size_t i = 0; i < constant.shape.size(); ++i) {
    const std::int64_t most = i + offset == 1 ? shape[1] : 1;
    if (constant.shape[i] != 1 && constant.shape[i] != most) return std::nullopt;
  }
  std::vector<double> values = values_of(constant);
  if (values.size() == 1) values.resize(static_cast<std::size_t>(shape[1]), values[0]);
  return values;
}

std::optional<Affine> affine_of_normalization(const Network& network, const Layer& layer,
                                              float epsilon) {
  for (std::size_t i = 1; i < 5; ++i)
    if (!network[layer.inputs[i]].constant) return std::nullopt;
  const std::vector<double> scale = values_of(network[layer.inputs[1]]);
  const std::vector<double> bias = values_of(network[layer.inputs[2]]);
  const std::vector<double> mean = values_of(network[layer.inputs[3]]);
  const std::vector<double> variance = values_of(network[layer.inputs[4]]);
  Affine result{layer.inputs[0], {}, {}};
  for (std::size_t c = 0; c < scale.size(); ++c) {
    result.scale.push_back(scale[c] / std::sqrt(variance[c] + double{epsilon}));
    result.shift.push_back(bias[c] - mean[c] * result.scale.back());
  }
  return result;
}

std::optional<Affine> affine_of_binary(const Network& network, const Layer& layer,
                                       BinaryKind kind) {
  const bool second = network[layer.inputs[1]].constant.has_value();
  const bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
  if (!second && !(commutes && network[layer.inputs[0]].constant)) return std::nullopt;
  const TensorId data = layer.inputs[second ? 0 : 1];
  if (network[data].shape != network[layer.outputs[0]].shape) return std::nullopt;
  const auto values = per_channel(network[layer.inputs[second ? 1 : 0]], network[data].shape);
  if (!values) return std::nullopt;
  Affine result{data, std::vector<double>(values->size(), 1), std::vector<double>(values->size())};
  for (std::size_t c = 0; c < values->size(); ++c) {
    if (kind == BinaryKind::mul) result.scale[c] = (*values)[c];
    if (kind == BinaryKind::div) result.scale[c] = 1 / (*values)[c];
    if (kind == BinaryKind::add) result.shift[c] = (*values)[c];
    if (kind == BinaryKind::sub) result.shift[c] = -(*values)[c];
  }
  return result;
}

TensorId add_values(Network& network, const std::string& name, Array array) {
  const TensorId id(network.tensors.size());
  network.tensors.push_back({name, array.type, array.shape, array});
  return id;
}

/// Which output channel a weight belongs to.
struct Channel {
  std::size_t weights_per_channel, channels, group_of_inputs = 1, channels_per_group = 0;

  std::size_t operator()(std::size_t weight) const {
    const std::size_t row = weight / weights_per_channel;
    if (channels_per_group == 0) return row % channels;
    return row / (channels_per_group * group_of_inputs) * channels_per_group +
           row % channels_per_group;
  }
};

/// The weights times their channel's factor. Whole rows at a time where they belong to one channel.
Array scaled(const Tensor& weight, const Channel& channel, const std::vector<double>& factors) {
  const std::span<const float> old = weight.constant->values<float>();
  Buffer memory = Buffer::uninitialized(weight.constant->memory->size());
  float* const result = reinterpret_cast<float*>(memory.data());
  const std::size_t row = channel.weights_per_channel;
  for (std::size_t begin = 0; begin < old.size(); begin += row) {
    const double factor = factors[channel(begin)];
    for (std::size_t i = begin; i < begin + row; ++i)
      result[i] = static_cast<float>(double{old[i]} * factor);
  }
  return make_array(DataType::float32, weight.shape, std::move(memory));
}

std::size_t product(const Shape& shape, std::size_t from) {
  return static_cast<std::size_t>(
      element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end())));
}

std::optional<Channel> channel_of(const Layer& layer, const Shape& weight, std::size_t channels) {
  if (std::holds_alternative<Conv>(layer.op)) return Channel{product(weight, 1), channels};
  if (const Gemm* gemm = std::get_if<Gemm>(&layer.op))
    return Channel{gemm->transpose_b ? product(weight, 1) : 1, channels};
  if (const ConvTranspose* conv = std::get_if<ConvTranspose>(&layer.op))
    return Channel{product(weight, 2), channels, static_cast<std::size_t>(weight[0] / conv->groups),
                   static_cast<std::size_t>(weight[1])};
  return std::nullopt;
}

/// The bias per channel, times what the layer multiplies it by; nothing if it has another shape.
std::optional<std::vector<double>> bias_of(const Network& network, const Layer& layer,
                                           std::size_t channels) {
  if (layer.inputs.size() < 3 || !layer.inputs[2].valid()) return std::vector<double>(channels);
  const Tensor& bias = network[layer.inputs[2]];
  if (!bias.constant) return std::nullopt;
  std::vector<double> values = values_of(bias);
  const bool by_channel = !bias.shape.empty() && values.size() == channels &&
                          bias.shape.back() == static_cast<std::int64_t>(channels);
  if (values.size() == 1)
    values.resize(channels, values[0]);
  else if (!by_channel)
    return std::nullopt;
  if (const Gemm* gemm = std::get_if<Gemm>(&layer.op))
    for (double& value : values) value *= double{gemm->beta};
  return values;
}

/// The dimension of the weights that their output channels are in; nothing if they are in two.
std::optional<std::int64_t> channel_axis(const Layer& layer) {
  if (std::holds_alternative<Conv>(layer.op)) return 0;
  if (const Gemm* gemm = std::get_if<Gemm>(&layer.op)) return gemm->transpose_b ? 0 : 1;
  const auto* conv = std::get_if<ConvTranspose>(&layer.op);
  return conv != nullptr && conv->groups == 1 ? std::optional<std::int64_t>(1) : std::nullopt;
}

/// An array with one element per channel; a single one is repeated.
Array for_channels(const Array& array, std::size_t channels) {
  if (element_count(array.shape) != 1) return array;
  const std::span<const std::byte> element = array.bytes();
  Buffer memory(size_of(array.type) * static_cast<std::int64_t>(channels));
  for (std::size_t c = 0; c < channels; ++c)
    std::copy(element.begin(), element.end(), memory.data() + c * element.size());
  return make_array(array.type, {static_cast<std::int64_t>(channels)}, std::move(memory));
}

/// Quantised weights whose dequantised form is multiplied channel by channel.
std::optional<Quantized> scaled(const Layer& layer, const Quantized& weights,
                                const std::vector<double>& factors) {
  const std::optional<std::int64_t> axis = channel_axis(layer);
  const bool single = element_count(weights.scale.shape) == 1;
  const bool by_channel = weights.scaling.block == 0 && weights.scaling.axis == axis;
  if (!axis || (!single && !by_channel) || weights.scale.type != DataType::float32)
    return std::nullopt;
  Quantized result = weights;
  result.scaling = {*axis, 0};
  if (result.zero_point) result.zero_point = for_channels(*result.zero_point, factors.size());
  const Array old = for_channels(weights.scale, factors.size());
  std::vector<float> scales;
  for (std::size_t c = 0; c < factors.size(); ++c)
    scales.push_back(static_cast<float>(double{old.values<float>()[c]} * factors[c]));
  result.scale = make_array<float>(DataType::float32, old.shape, scales);
  return result;
}

/// Programs add 1.5 * 2^23 and subtract it again, so that float32 rounds to whole numbers.
constexpr double rounds = 0x1p20;
/// Larger factors may overflow, alone or with the weights that they are put into.
constexpr double largest_scale = 1e15;

bool is_ordinary(const Affine& affine) {
  for (std::size_t c = 0; c < affine.scale.size(); ++c)
    if (!(std::abs(affine.scale[c]) <= largest_scale && std::abs(affine.shift[c]) < rounds))
      return false;
  return true;
}

std::optional<Affine> ordinary(std::optional<Affine> affine) {
  return affine && is_ordinary(*affine) ? std::move(affine) : std::nullopt;
}

}  // namespace

std::optional<Affine> affine_of(const Network& network, const Layer& layer) {
  if (layer.outputs.empty() || !layer.outputs[0].valid()) return std::nullopt;
  const Tensor& result = network[layer.outputs[0]];
  if (result.type != DataType::float32 || result.shape.size() < 2) return std::nullopt;
  if (const auto* normalization = std::get_if<BatchNormalization>(&layer.op))
    return ordinary(affine_of_normalization(network, layer, normalization->epsilon));
  const auto* binary = std::get_if<Binary>(&layer.op);
  if (binary == nullptr || (binary->kind != BinaryKind::add && binary->kind != BinaryKind::sub &&
                            binary->kind != BinaryKind::mul && binary->kind != BinaryKind::div))
    return std::nullopt;
  return ordinary(affine_of_binary(network, layer, binary->kind));
}

std::optional<Affine> composed(const Affine& first, const Affine& second) {
  constexpr double most_cancelled = 4096, vanishing = 1e-30;
  Affine result = first;
  for (std::size_t c = 0; c < result.scale.size(); ++c) {
    const double before = result.shift[c] * second.scale[c];
    result.scale[c] *= second.scale[c];
    result.shift[c] = before + second.shift[c];
    const double left = std::max(std::abs(result.scale[c]), std::abs(result.shift[c]));
    if (result.scale[c] != 0 && std::abs(result.scale[c]) < vanishing) return std::nullopt;
    if (std::abs(before) > most_cancelled * left) return std::nullopt;
  }
  return ordinary(std::move(result));
}

bool can_absorb(const Network& network, const Layer& layer, std::size_t channels) {
  if (layer.inputs.size() < 2 || network[layer.inputs[0]].constant) return false;
  const Tensor& weight = network[layer.inputs[1]];
  return weight.constant && channel_of(layer, weight.shape, channels) &&
         bias_of(network, layer, channels);
}

void absorb(Network& network, Layer& layer, const Affine& affine) {
  const Tensor weight = network[layer.inputs[1]];
  const std::size_t channels = affine.scale.size();
  const auto channel = channel_of(layer, weight.shape, channels);
  const auto bias = bias_of(network, layer, channels);
  std::vector<float> biases(channels);
  for (std::size_t c = 0; c < channels; ++c)
    biases[c] = static_cast<float>(affine.shift[c] == 0  // keeps the sign of a zero
                                       ? (*bias)[c] * affine.scale[c]
                                       : (*bias)[c] * affine.scale[c] + affine.shift[c]);
  layer.inputs.resize(3);
  layer.inputs[1] = add_values(network, weight.name, scaled(weight, *channel, affine.scale));
  if (weight.quantized)
    network.tensors[layer.inputs[1].index].quantized =
        scaled(layer, *weight.quantized, affine.scale);
  layer.inputs[2] = add_values(
      network, layer.name + ".bias",
      make_array<float>(DataType::float32, {static_cast<std::int64_t>(channels)}, biases));
  if (Gemm* gemm = std::get_if<Gemm>(&layer.op)) gemm->beta = 1;
}

}  // namespace millrace::network
