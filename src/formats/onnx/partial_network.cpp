#include "formats/onnx/partial_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {

TensorId PartialNetwork::add_unknown(Made made) {
  const TensorId id(network_.tensors.size());
  network_.tensors.push_back({{}, made.type, std::move(made.shape), std::nullopt});
  return id;
}

TensorId PartialNetwork::add_input(Made made) {
  const TensorId id = add_unknown(std::move(made));
  network_.inputs.push_back(id);
  inputs_and_outputs_.insert(id);
  return id;
}

TensorId PartialNetwork::add_weight(Array value) {
  const TensorId id = add_constant(std::move(value));
  budget_.allow_for(network_[id].size());
  return id;
}

TensorId PartialNetwork::add_constant(Array value) {
  const TensorId id = add_unknown({value.type, value.shape});
  network_.tensors[id.index].constant = std::move(value);
  return id;
}

void PartialNetwork::take_memory(Bytes more, const std::string& place) {
  const bool too_much = more > budget_.memory;
  budget_.memory = budget_.memory - more;
  if (too_much)
    throw InputError(place, fmt::format("the constants that the model computes take more than {} "
                                        "and four times its weights; check the model's dimensions",
                                        millrace::to_text(network::most_folded)));
}

std::vector<TensorId> PartialNetwork::add_layer(Layer layer,
                                                const std::vector<std::optional<Made>>& outputs,
                                                const std::string& place) {
  for (const std::optional<Made>& output : outputs) {
    if (output) check_shape(output->type, output->shape, place);
    layer.outputs.push_back(output ? add_unknown(*output) : TensorId());
  }
  const std::vector<TensorId> made = layer.outputs;
  const LayerId id(network_.layers.size());
  network_.layers.push_back(std::move(layer));
  std::optional<std::vector<network::Folded>> values = network::fold(network_, id, budget_);
  if (!values) {
    network_.layers.back().name = unique_layer_name(network_.layers.back().name);
    return made;
  }
  network_.layers.pop_back();
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (!made[i].valid()) continue;
    network_.tensors[made[i].index].constant = std::move((*values)[i].value);
    network_.tensors[made[i].index].quantized = std::move((*values)[i].quantized);
  }
  return made;
}

std::string PartialNetwork::unique_layer_name(const std::string& base) {
  std::string name = base;
  while (!layer_names_.emplace(name, 1).second)
    name = fmt::format("{}_{}", base, ++layer_names_[base]);
  return name;
}

std::vector<std::string> PartialNetwork::inputs_behind(TensorId id) {
  constexpr std::size_t most_named = 3, most_traced = 100'000'000;
  traced_ += network_.layers.size() + network_.tensors.size();
  if (traced_ > most_traced) return {};
  std::vector<bool> behind(network_.tensors.size());
  behind[id.index] = true;
  for (std::size_t i = network_.layers.size(); i-- > 0;) {
    const Layer& layer = network_.layers[i];
    if (std::none_of(layer.outputs.begin(), layer.outputs.end(),
                     [&](TensorId output) { return output.valid() && behind[output.index]; }))
      continue;
    for (const TensorId input : layer.inputs)
      if (input.valid()) behind[input.index] = true;
  }
  std::vector<std::string> names;
  for (const TensorId input : network_.inputs) {
    if (!behind[input.index]) continue;
    const auto said = behind_.find(input);
    for (const std::string& name :
         said != behind_.end() ? said->second : std::vector{network_[input].name})
      if (names.size() < most_named && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  }
  return names;
}

void PartialNetwork::add_output(const std::string& name, TensorId id, const std::string& place) {
  const bool is_taken = inputs_and_outputs_.contains(id);
  if (is_taken && network_[id].name != name) {
    const Made made{network_[id].type, network_[id].shape};
    id = add_layer({name + ".copy", Reshape{}, {id}, {}}, {made}, place).front();
  }
  network_.outputs.push_back(id);
  if (inputs_and_outputs_.insert(id).second) network_.tensors[id.index].name = name;
}

Network PartialNetwork::finish() && {
  for (const Layer& layer : network_.layers)
    for (const TensorId output : layer.outputs)
      if (output.valid() && network_[output].name.empty())
        network_.tensors[output.index].name = layer.name;
  return std::move(network_);
}

}  // namespace millrace::formats::onnx
