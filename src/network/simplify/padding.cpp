#include <algorithm>

#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

bool is_zero(std::int64_t amount) { return amount == 0; }

/// Adds zeros, or nothing, in the spatial dimensions and leaves the others alone.
bool surrounds_images_with_zeros(const Pad& pad) {
  const auto images_only = [](const Shape& amounts) {
    return amounts.size() > 2 && std::all_of(amounts.begin(), amounts.begin() + 2, is_zero) &&
           std::all_of(amounts.begin() + 2, amounts.end(), [](auto n) { return n >= 0; });
  };
  return pad.mode == PadMode::constant && pad.value == 0 && images_only(pad.begin) &&
         images_only(pad.end);
}

const Pad* zeros_around(const Network& network, const Topology& topology, TensorId tensor) {
  const auto producer = topology.producer[tensor.index];
  const Pad* const pad = producer ? std::get_if<Pad>(&network[*producer].op) : nullptr;
  return pad != nullptr && surrounds_images_with_zeros(*pad) ? pad : nullptr;
}

void widen(Window& window, const Pad& pad) {
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    window.pads_begin[d] += pad.begin[d + 2];
    window.pads_end[d] += pad.end[d + 2];
  }
}

}  // namespace

Network fold_padding(Network network) {
  const Topology before = topology(network);
  for (Layer& layer : network.layers) {
    auto* const conv = std::get_if<Conv>(&layer.op);
    if (conv == nullptr) continue;
    while (const Pad* const pad = zeros_around(network, before, layer.inputs[0])) {
      widen(conv->window, *pad);
      layer.inputs[0] = network[*before.producer[layer.inputs[0].index]].inputs[0];
    }
  }
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
