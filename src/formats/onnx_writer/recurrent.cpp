// RNN, GRU and LSTM.
#include <array>

#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

struct GateName {
  const char* name;
  bool has_alpha, has_beta;
};
/// By GateFunction.
constexpr std::array<GateName, 11> gate_names{{{"Sigmoid", false, false},
                                               {"Tanh", false, false},
                                               {"Relu", false, false},
                                               {"Affine", true, true},
                                               {"LeakyRelu", true, false},
                                               {"ThresholdedRelu", true, false},
                                               {"ScaledTanh", true, true},
                                               {"HardSigmoid", true, true},
                                               {"Elu", true, false},
                                               {"Softsign", false, false},
                                               {"Softplus", false, false}}};
constexpr std::array<const char*, 3> directions{"forward", "reverse", "bidirectional"};

void set_gates(const NodeToWrite& node, const std::vector<Gate>& gates) {
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (const Gate& gate : gates) {
    const GateName& known = gate_names[static_cast<std::size_t>(gate.function)];
    names.emplace_back(known.name);
    if (known.has_alpha) alphas.push_back(gate.alpha);
    if (known.has_beta) betas.push_back(gate.beta);
  }
  node.set("activations", names);
  if (!alphas.empty()) node.set("activation_alpha", alphas);
  if (!betas.empty()) node.set("activation_beta", betas);
}

void set_options(const NodeToWrite& node, const Recurrent& op) {
  node.set("hidden_size", op.hidden);
  node.set("direction", directions[static_cast<std::size_t>(op.direction)]);
  if (op.clip != 0) node.set("clip", op.clip);
  if (op.linear_before_reset) node.set("linear_before_reset", std::int64_t{1});
  if (op.couples_gates) node.set("input_forget", std::int64_t{1});
  set_gates(node, op.gates);
}

std::string transposed(LayerNodes& layer, const std::string& x, const Shape& order) {
  return layer.inner("Transpose", {x}).set("perm", order).output();
}

/// With the steps of the sequence first, as libraries want it; the layer has the batch first.
void write_batch_first(const Recurrent& op, LayerNodes& layer) {
  constexpr std::array<std::size_t, 3> with_batch{0, 5, 6};
  Names inputs = layer.inputs();
  for (const std::size_t i : with_batch)
    if (layer.has_input(i)) inputs[i] = transposed(layer, inputs[i], {1, 0, 2});
  Names outputs = layer.outputs();
  for (std::string& name : outputs)
    if (!name.empty()) name = layer.graph().unique_name(name + "/steps_first");
  set_options(layer.node(std::string(name_of(op)), inputs, outputs), op);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (layer.has_output(i))
      layer.node("Transpose", {outputs[i]}, {layer.output(i)})
          .set("perm", i == 0 ? Shape{2, 0, 1, 3} : Shape{1, 0, 2});
}

}  // namespace

void write(const Recurrent& op, LayerNodes& layer) {
  if (op.batch_first) return write_batch_first(op, layer);
  set_options(layer.node(std::string(name_of(op))), op);
}

}  // namespace millrace::formats::onnx_writer
