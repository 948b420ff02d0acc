#include "network/simplify/simplify.h"

#include "network/operator_kinds.h"
#include "network/simplify/quantized/join_layers.h"

namespace millrace::network {
namespace {

/// The tensor that a reshape makes this one from; itself if none does.
TensorId before_reshape(const Network& network, const Topology& before, TensorId tensor) {
  const std::optional<LayerId> producer = before.producer[tensor.index];
  const bool is_reshaped = producer && is_reshape(network[*producer].op);
  return is_reshaped ? network[*producer].inputs[0] : tensor;
}

/// The budget of a network whose constants are all weights of a file.
FoldingBudget budget_of(const Network& network) {
  FoldingBudget budget;
  for (const Tensor& tensor : network.tensors)
    if (tensor.constant) budget.allow_for(tensor.size());
  return budget;
}

}  // namespace

Network fold_constants(Network network) {
  const FoldingBudget budget = budget_of(network);
  return fold_constants_within(std::move(network), budget);
}

Network fold_constants_within(Network network, FoldingBudget budget) {
  std::vector<Layer> kept;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    std::optional<std::vector<Folded>> values = fold(network, LayerId(i), budget);
    if (!values) {
      kept.push_back(network.layers[i]);
      continue;
    }
    for (std::size_t k = 0; k < values->size(); ++k) {
      const TensorId output = network.layers[i].outputs[k];
      if (!output.valid()) continue;
      network.tensors[output.index].constant = std::move((*values)[k].value);
      network.tensors[output.index].quantized = std::move((*values)[k].quantized);
    }
  }
  network.layers = std::move(kept);
  return network;
}

Network merge_reshapes(Network network) {
  Topology before = topology(network);
  std::vector<TensorId> now(network.tensors.size());  // what is read in a tensor's place
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = TensorId(i);
  for (Layer& layer : network.layers) {
    for (TensorId& input : layer.inputs)
      if (input.valid()) input = now[input.index];
    if (!is_reshape(layer.op)) continue;
    const TensorId from = before_reshape(network, before, layer.inputs[0]);
    const TensorId to = layer.outputs[0];
    layer.inputs[0] = from;
    if (network[from].shape != network[to].shape) continue;
    if (before.is_output[to.index]) {
      // An output that is an input or another output stays a tensor of its own, for its name.
      if (before.is_output[from.index] || !before.producer[from.index]) continue;
      network.tensors[from.index].name = network[to].name;
      before.is_output[from.index] = true;
    }
    now[to.index] = from;
  }
  for (TensorId& output : network.outputs) output = now[output.index];
  return remove_unused(std::move(network));
}

Network simplify(Network network) {
  const FoldingBudget budget = budget_of(network);
  return simplify(std::move(network), budget);
}

Network simplify(Network network, const FoldingBudget& budget) {
  network = widen_half(std::move(network));
  network = fold_constants_within(std::move(network), budget);
  network = merge_reshapes(std::move(network));
  network = recognise_functions(std::move(network));
  network = recognise_normalizations(std::move(network));
  network = fold_padding(std::move(network));
  network = cut_unseen_taps(std::move(network));
  network = fold_batch_normalization(std::move(network));
  network = weigh_before_enlarging(std::move(network));
  network = join_quantized_layers(std::move(network));
  return remove_unused(std::move(network));
}

}  // namespace millrace::network
