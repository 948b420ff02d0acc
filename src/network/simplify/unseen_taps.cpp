#include <algorithm>

#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// The rows of a kernel, or its columns, through which some output sees a pixel.
struct Taps {
  std::int64_t first = 0, last = 0;
};

/// In dimension d of the image. Padding never becomes negative.
Taps seen(const Window& w, std::size_t d, std::int64_t input, std::int64_t output) {
  const std::int64_t step = w.dilations[d], before = w.pads_begin[d];
  const auto reaches_image = [&](std::int64_t tap) {
    const std::int64_t first = tap * step - before;
    return first < input && first + (output - 1) * w.strides[d] >= 0;
  };
  Taps taps{0, w.kernel[d] - 1};
  while (taps.first < taps.last && !reaches_image(taps.first) && before >= (taps.first + 1) * step)
    ++taps.first;
  while (taps.first < taps.last && !reaches_image(taps.last) &&
         w.pads_end[d] >= (w.kernel[d] - taps.last) * step)
    --taps.last;
  return taps;
}

/// What is left of weights [M, C, kernel...], `from` of which belongs to `taps` from dimension 2
/// on.
void copy_taps(const Array& weights, const std::vector<Taps>& taps, std::vector<float>& to) {
  const auto from = weights.values<float>();
  Shape at(weights.shape.size(), 0);
  for (const float value : from) {
    bool is_left = true;
    for (std::size_t d = 0; d < taps.size(); ++d)
      is_left = is_left && at[d + 2] >= taps[d].first && at[d + 2] <= taps[d].last;
    if (is_left) to.push_back(value);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < weights.shape[d]) break;
      at[d] = 0;
    }
  }
}

void cut(Window& window, Tensor& weights, const std::vector<Taps>& taps) {
  std::vector<float> left;
  copy_taps(*weights.constant, taps, left);
  for (std::size_t d = 0; d < taps.size(); ++d) {
    const auto [first, last] = taps[d];
    window.pads_begin[d] -= first * window.dilations[d];
    window.pads_end[d] -= (window.kernel[d] - 1 - last) * window.dilations[d];
    window.kernel[d] = last - first + 1;
    if (window.kernel[d] == 1) window.dilations[d] = 1;
    weights.shape[d + 2] = window.kernel[d];
  }
  weights.constant = make_array<float>(DataType::float32, weights.shape, left);
}

}  // namespace

Network cut_unseen_taps(Network network) {
  const Topology before = topology(network);
  for (Layer& layer : network.layers) {
    auto* const conv = std::get_if<Conv>(&layer.op);
    if (conv == nullptr) continue;
    const TensorId id = layer.inputs[1];
    Tensor& weights = network.tensors[id.index];
    if (!weights.constant || weights.quantized || weights.type != DataType::float32 ||
        before.consumers[id.index].size() != 1 || before.is_output[id.index] ||
        layer.inputs[0] == id)
      continue;
    const Shape& image = network[layer.inputs[0]].shape;
    const Shape& result = network[layer.outputs[0]].shape;
    std::vector<Taps> taps;
    bool changes = false;
    for (std::size_t d = 0; d < conv->window.kernel.size(); ++d) {
      taps.push_back(seen(conv->window, d, image[d + 2], result[d + 2]));
      changes = changes || taps[d].first > 0 || taps[d].last + 1 < conv->window.kernel[d];
    }
    if (changes) cut(conv->window, weights, taps);
  }
  return network;
}

}  // namespace millrace::network
