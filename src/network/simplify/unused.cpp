#include <algorithm>

#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// Which layers and tensors the outputs need, found from the last layer to the first.
struct Needed {
  std::vector<bool> tensors, layers;

  explicit Needed(const Network& network)
      : tensors(network.tensors.size()), layers(network.layers.size()) {
    for (const TensorId output : network.outputs) tensors[output.index] = true;
    for (std::size_t i = network.layers.size(); i-- > 0;) visit(network.layers[i], i);
    for (const TensorId input : network.inputs) tensors[input.index] = true;
  }

  void visit(const Layer& layer, std::size_t index) {
    layers[index] = std::any_of(layer.outputs.begin(), layer.outputs.end(), [&](TensorId output) {
      return output.valid() && tensors[output.index];
    });
    if (!layers[index]) return;
    for (const TensorId input : layer.inputs)
      if (input.valid()) tensors[input.index] = true;
    // Passes, engines and loops take type and shape from the first output.
    if (layer.outputs.front().valid()) tensors[layer.outputs.front().index] = true;
    // The sizes of all parts say where each one begins.
    if (!std::holds_alternative<Split>(layer.op)) return;
    for (const TensorId output : layer.outputs) tensors[output.index] = true;
  }
};

void renumber(std::vector<TensorId>& ids, const std::vector<TensorId>& numbers) {
  for (TensorId& id : ids)
    if (id.valid()) id = numbers[id.index];
}

}  // namespace

Network remove_unused(Network network) {
  const Needed needed(network);
  std::vector<TensorId> numbers(network.tensors.size());
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < network.tensors.size(); ++i) {
    if (!needed.tensors[i]) continue;
    numbers[i] = TensorId(tensors.size());
    tensors.push_back(std::move(network.tensors[i]));
  }
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (!needed.layers[i]) continue;
    layers.push_back(std::move(network.layers[i]));
    renumber(layers.back().inputs, numbers);
    renumber(layers.back().outputs, numbers);
  }
  network.tensors = std::move(tensors);
  network.layers = std::move(layers);
  renumber(network.inputs, numbers);
  renumber(network.outputs, numbers);
  return network;
}

}  // namespace millrace::network
