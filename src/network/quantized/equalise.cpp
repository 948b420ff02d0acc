#include "network/quantized/equalise.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "network/affine.h"
#include "network/quantized/channel_links.h"
#include "network/simplify.h"

namespace millrace::network {
namespace {

constexpr int most_rounds = 30;
constexpr double settled = 0.05, largest_exponent = 20;  // of 2

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
  explicit Equaliser(Network network)
      : network_(std::move(network)), links_(network_), exponents_(links_.count()) {
    for (const TensorId input : network_.inputs) links_.fix(input);
    for (const TensorId output : network_.outputs) links_.fix(output);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      if (multiplies_channels(network_.layers[i]))
        products_.emplace_back(i);
      else
        link_channels(links_, network_, network_.layers[i]);
    }
  }

  Equalised run() {
    for (int round = 0; round < most_rounds && approach() > settled; ++round) {
    }
    for (double& exponent : exponents_)
      exponent = std::clamp(std::round(exponent), -largest_exponent, largest_exponent);
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

  /// Powers of two by channel; with -1 their inverse.
  std::vector<float> factors(TensorId tensor, double sign) {
    std::vector<float> result(links_.count(tensor));
    for (std::size_t c = 0; c < result.size(); ++c)
      result[c] = static_cast<float>(std::exp2(sign * exponents_[links_.class_of(tensor, c)]));
    return result;
  }

  /// Where the largest weights that make a channel are larger than those that read it, it is
  /// divided by more. Half a step, because both ends of a layer move. The largest step.
  double approach() {
    std::vector<float> making(links_.count()), reading(links_.count());
    for (const LayerId id : products_) note_weights(network_[id], making, reading);
    double largest = 0;
    for (std::size_t c = 0; c < exponents_.size(); ++c) {
      const bool has_both = making[c] > 0 && reading[c] > 0;
      if (links_.is_fixed(c) || !has_both) continue;
      const double step = std::log2(double{making[c]} / double{reading[c]}) / 4;
      if (!std::isfinite(step)) continue;
      exponents_[c] = std::clamp(exponents_[c] + step, -largest_exponent, largest_exponent);
      largest = std::max(largest, std::abs(step));
    }
    return largest;
  }

  /// By class: the largest of all weights and biases that make its channels, and of the weights
  /// that read them.
  void note_weights(const Layer& layer, std::vector<float>& making, std::vector<float>& reading) {
    const TensorId in = layer.inputs[0], out = layer.outputs[0];
    const std::vector<float> read = factors(in, 1), made = factors(out, -1);
    std::vector<float> largest_made(made.size()), largest_read(read.size());
    const Tensor& weight = network_[layer.inputs[1]];
    const std::span<const float> weights = weight.constant->values<float>();
    for_each_weight(layer, weight.shape, [&](std::size_t i, std::size_t o, std::size_t c) {
      const float size = std::abs(weights[i]) * read[c] * made[o];
      largest_made[o] = std::max(largest_made[o], size);
      largest_read[c] = std::max(largest_read[c], size);
    });
    if (const auto bias = bias_of(layer); !bias.empty())
      for (std::size_t o = 0; o < made.size(); ++o)
        largest_made[o] =
            std::max(largest_made[o], std::abs(bias[bias.size() == 1 ? 0 : o]) * made[o]);
    const auto note = [&](TensorId tensor, const std::vector<float>& found,
                          std::vector<float>& all) {
      for (std::size_t c = 0; c < found.size(); ++c) {
        float& value = all[links_.class_of(tensor, c)];
        value = std::max(value, found[c]);
      }
    };
    note(out, largest_made, making);
    note(in, largest_read, reading);
  }

  std::span<const float> bias_of(const Layer& layer) const {
    if (layer.inputs.size() < 3 || !layer.inputs[2].valid()) return {};
    return network_[layer.inputs[2]].constant->values<float>();
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
    const bool has_bias = !bias_of(layer).empty();
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

Equalised equalise(Network network) { return Equaliser(std::move(network)).run(); }

}  // namespace millrace::network
