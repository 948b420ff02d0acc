#include "network/simplify.h"

#include "network/folding.h"

namespace millrace::network {
namespace {

const Layer* reshape_before(const Network& network, const Topology& before, TensorId tensor) {
  const std::optional<LayerId> producer = before.producer[tensor.index];
  const bool is_reshape = producer && std::holds_alternative<Reshape>(network[*producer].op);
  return is_reshape ? &network[*producer] : nullptr;
}

/// Lets all who read `old` read `now`; the name that an output of the network has stays with it.
void replace(Network& network, const Topology& before, TensorId old, TensorId now) {
  for (Layer& layer : network.layers)
    for (TensorId& input : layer.inputs)
      if (input == old) input = now;
  for (TensorId& output : network.outputs)
    if (output == old) output = now;
  if (before.is_output[old.index] && !before.is_output[now.index] && before.producer[now.index])
    network.tensors[now.index].name = network[old].name;
}

}  // namespace

Network fold_constants(Network network) {
  Bytes total;
  std::vector<Layer> kept;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    std::optional<std::vector<Array>> values;
    if (total < most_folded) values = fold(network, LayerId(i));
    if (!values) {
      kept.push_back(network.layers[i]);
      continue;
    }
    for (std::size_t k = 0; k < values->size(); ++k) {
      const TensorId output = network.layers[i].outputs[k];
      if (!output.valid()) continue;
      total += network[output].size();
      network.tensors[output.index].constant = std::move((*values)[k]);
    }
  }
  network.layers = std::move(kept);
  return network;
}

Network merge_reshapes(Network network) {
  const Topology before = topology(network);
  for (Layer& layer : network.layers) {
    if (!std::holds_alternative<Reshape>(layer.op)) continue;
    while (const Layer* earlier = reshape_before(network, before, layer.inputs[0]))
      layer.inputs[0] = earlier->inputs[0];
    const TensorId from = layer.inputs[0];
    const TensorId to = layer.outputs[0];
    if (network[from].shape == network[to].shape) replace(network, before, to, from);
  }
  return remove_unused(std::move(network));
}

Network simplify(Network network) {
  network = fold_constants(std::move(network));
  network = merge_reshapes(std::move(network));
  network = fold_batch_normalization(std::move(network));
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
