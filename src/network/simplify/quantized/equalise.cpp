#include "network/simplify/quantized/equalise.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "network/affine.h"
#include "network/simplify/quantized/channel_links.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

constexpr double largest_exponent = 20;  // of 2

/// Calls f(index, output channel, input channel) for all weights of a Conv, ConvTranspose or Gemm.
template <class F>
void for_each_weight(const Layer& layer, const Shape& weight, F f) {
  const auto size = [&](std::size_t d) { return static_cast<std::size_t>(weight[d]); };
  std::size_t kernel = 1, groups = 1;
  for (std::size_t d = 2; d < weight.size(); ++d) kernel *= size(d);
  bool rows_are_inputs = false;
  if (const Conv* conv = std::get_if<Conv>(&layer.op))
    groups = static_cast<std::size_t>(conv->groups);
  else if (const ConvTranspose* transposed = std::get_if<ConvTranspose>(&layer.op))
    groups = static_cast<std::size_t>(transposed->groups), rows_are_inputs = true;
  else
    rows_are_inputs = !std::get<Gemm>(layer.op).transpose_b;
  const std::size_t rows_of_group = size(0) / groups;
  std::size_t i = 0;
  for (std::size_t row = 0; row < size(0); ++row)
    for (std::size_t of_group = 0; of_group < size(1); ++of_group) {
      const std::size_t column = row / rows_of_group * size(1) + of_group;
      for (std::size_t k = 0; k < kernel; ++k, ++i)
        rows_are_inputs ? f(i, column, row) : f(i, row, column);
    }
}

class Equaliser {
 public:
  Equaliser(Network network, const ChannelSizes& sizes)
      : network_(std::move(network)), links_(network_), exponents_(links_.count()) {
    for (const TensorId input : network_.inputs) links_.fix(input);
    for (const TensorId output : network_.outputs) links_.fix(output);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      if (multiplies_channels(network_.layers[i]))
        products_.emplace_back(i);
      else
        link_channels(links_, network_, network_.layers[i]);
    }
    choose_exponents(sizes);
  }

  Equalised run() {
    std::size_t channels = 0;
    for (std::size_t t = 0; t < network_.tensors.size(); ++t) channels += changed_in(TensorId(t));
    for (const LayerId id : products_) apply(network_.layers[id.index]);
    return {remove_unused(std::move(network_)), channels};
  }

 private:
  bool multiplies_channels(const Layer& layer) {
    const auto* gemm = std::get_if<Gemm>(&layer.op);
    const std::size_t made = links_.count(layer.outputs[0]);
    return (gemm == nullptr || !gemm->transpose_a) && made > 0 &&
           can_absorb(network_, layer, made) && links_.count(layer.inputs[0]) > 0 &&
           !network_[layer.inputs[1]].quantized;
  }

  /// The factors that divide channels are the roots of how large the channels are, over how large
  /// the weights are that read them. Weights of one channel alone have a scale of their own, so
  /// that their size does not matter.
  void choose_exponents(const ChannelSizes& sizes) {
    std::vector<float> numbers(links_.count()), weights(links_.count());
    for (const LayerId id : products_) {
      const Layer& layer = network_[id];
      const auto size = sizes.find(network_[layer.inputs[0]].name);
      if (size == sizes.end() || size->second.size() != links_.count(layer.inputs[0])) {
        links_.fix(layer.inputs[0]);
        continue;
      }
      note(layer.inputs[0], with_floor(size->second), numbers);
      if (!reads_one_channel(layer))
        note(layer.inputs[0], with_floor(largest_read(layer)), weights);
    }
    for (std::size_t c = 0; c < exponents_.size(); ++c) {
      if (links_.is_fixed(c) || numbers[c] <= 0) continue;
      const double exponent = weights[c] > 0
                                  ? std::log2(double{numbers[c]} / double{weights[c]}) / 2
                                  : std::log2(double{numbers[c]});
      if (std::isfinite(exponent))
        exponents_[c] = std::clamp(std::round(exponent), -largest_exponent, largest_exponent);
    }
  }

  bool reads_one_channel(const Layer& layer) const {
    return std::holds_alternative<Conv>(layer.op) && network_[layer.inputs[1]].shape[1] == 1;
  }

  /// What hardly occurs may occur more often in other frames.
  static std::vector<float> with_floor(std::vector<float> sizes) {
    constexpr float smallest_share = 1.f / 1024;
    const float least = *std::ranges::max_element(sizes) * smallest_share;
    for (float& size : sizes) size = std::max(size, least);
    return sizes;
  }

  /// By class: the largest.
  void note(TensorId tensor, const std::vector<float>& found, std::vector<float>& all) {
    for (std::size_t c = 0; c < found.size(); ++c) {
      float& value = all[links_.class_of(tensor, c)];
      value = std::max(value, found[c]);
    }
  }

  /// By input channel, of the weights.
  std::vector<float> largest_read(const Layer& layer) {
    const Tensor& weight = network_[layer.inputs[1]];
    const std::span<const float> weights = weight.constant->values<float>();
    std::vector<float> largest(links_.count(layer.inputs[0]));
    for_each_weight(layer, weight.shape, [&](std::size_t i, std::size_t, std::size_t c) {
      largest[c] = std::max(largest[c], std::abs(weights[i]));
    });
    return largest;
  }

  /// Powers of two by channel; with -1 their inverse.
  std::vector<float> factors(TensorId tensor, double sign) {
    std::vector<float> result(links_.count(tensor));
    for (std::size_t c = 0; c < result.size(); ++c)
      result[c] = static_cast<float>(std::exp2(sign * exponents_[links_.class_of(tensor, c)]));
    return result;
  }

  std::size_t changed_in(TensorId tensor) {
    std::size_t changed = 0;
    for (std::size_t c = 0; c < links_.count(tensor); ++c)
      changed += exponents_[links_.class_of(tensor, c)] != 0 ? 1 : 0;
    return changed;
  }

  void apply(Layer& layer) {
    const TensorId in = layer.inputs[0], out = layer.outputs[0];
    if (changed_in(in) > 0) {
      const Tensor& weight = network_[layer.inputs[1]];
      const std::vector<float> read = factors(in, 1);
      const std::span<const float> old = weight.constant->values<float>();
      std::vector<float> values(old.size());
      for_each_weight(layer, weight.shape, [&](std::size_t i, std::size_t, std::size_t c) {
        values[i] = old[i] * read[c];
      });
      Tensor scaled{weight.name, weight.type, weight.shape,
                    make_array<float>(weight.type, weight.shape, values)};
      layer.inputs[1] = TensorId(network_.tensors.size());
      network_.tensors.push_back(std::move(scaled));
    }
    if (changed_in(out) == 0) return;
    const bool has_bias = layer.inputs.size() > 2 && layer.inputs[2].valid();
    const std::vector<float> made = factors(out, -1);
    absorb(network_, layer, {in, {made.begin(), made.end()}, std::vector<double>(made.size())});
    if (!has_bias) layer.inputs.resize(2);
  }

  Network network_;
  ChannelLinks links_;
  std::vector<double> exponents_;  // by class: its channels are divided by 2 to this
  std::vector<LayerId> products_;
};

}  // namespace

Equalised equalise(Network network, const ChannelSizes& sizes) {
  return Equaliser(std::move(network), sizes).run();
}

}  // namespace millrace::network
