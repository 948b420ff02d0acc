#include "support/renumbered.h"

namespace millrace::test {

network::Network renumbered(network::Network network) {
  std::vector<TensorId> numbers(network.tensors.size());
  std::vector<network::Tensor> tensors;
  const auto number = [&](std::vector<TensorId>& ids) {
    for (TensorId& id : ids) {
      if (!id.valid()) continue;
      TensorId& now = numbers[id.index];
      if (!now.valid()) {
        now = TensorId(tensors.size());
        tensors.push_back(network[id]);
      }
      id = now;
    }
  };
  number(network.inputs);
  for (network::Layer& layer : network.layers) {
    number(layer.inputs);
    number(layer.outputs);
  }
  number(network.outputs);
  network.tensors = std::move(tensors);
  return network;
}

}  // namespace millrace::test
