#include "network/folding.h"

#include "network/evaluate/evaluate.h"

namespace millrace::network {
namespace {

constexpr double most_steps = 1e10;  // tens of seconds at worst

/// About how many steps the loops take.
double steps(const Network& network, const Layer& layer, LayerId id) {
  double result = static_cast<double>(cost_of(network, id).macs);
  double outputs = 0;
  for (const TensorId output : layer.outputs)
    if (output.valid()) outputs += static_cast<double>(element_count(network[output].shape));
  if (const Pool* pool = std::get_if<Pool>(&layer.op))
    for (const std::int64_t size : pool->window.kernel) outputs *= static_cast<double>(size);
  if (const Lrn* lrn = std::get_if<Lrn>(&layer.op)) outputs *= static_cast<double>(lrn->size);
  return result + outputs;
}

bool all_constant(const Network& network, const Layer& layer) {
  for (const TensorId input : layer.inputs)
    if (input.valid() && !network[input].constant) return false;
  return true;
}

Bytes output_size(const Network& network, const Layer& layer) {
  Bytes size;
  for (const TensorId output : layer.outputs)
    if (output.valid()) size += network[output].size();
  return size;
}

}  // namespace

std::optional<std::vector<Array>> fold(const Network& network, LayerId id, Bytes most) {
  const Layer& layer = network[id];
  if (!all_constant(network, layer) || output_size(network, layer) > most ||
      steps(network, layer, id) > most_steps || !can_evaluate(network, id))
    return std::nullopt;
  std::vector<ConstView> inputs;
  for (const TensorId input : layer.inputs) {
    ConstView view;
    if (input.valid()) {
      const Array& value = *network[input].constant;
      view = {value.type, value.shape, value.memory->data()};
    }
    inputs.push_back(view);
  }
  std::vector<Buffer> buffers(layer.outputs.size());
  std::vector<View> outputs(layer.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!layer.outputs[i].valid()) continue;
    const Tensor& tensor = network[layer.outputs[i]];
    buffers[i] = Buffer(tensor.size());
    outputs[i] = {tensor.type, tensor.shape, buffers[i].data()};
  }
  evaluate(layer, inputs, outputs);
  std::vector<Array> values(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!layer.outputs[i].valid()) continue;
    const Tensor& tensor = network[layer.outputs[i]];
    values[i] = make_array(tensor.type, tensor.shape, std::move(buffers[i]));
  }
  return values;
}

}  // namespace millrace::network
