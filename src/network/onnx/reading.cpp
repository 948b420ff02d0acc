#include "network/onnx/reading.h"

#include <fmt/format.h>

#include "base/error.h"
#include "network/onnx/tensor_data.h"

namespace millrace::network::onnx {

TensorId Reading::add_tensor(Made made) {
  const TensorId id(network_.tensors.size());
  network_.tensors.push_back({{}, made.type, std::move(made.shape), std::nullopt});
  return id;
}

TensorId Reading::add_input(const std::string& name, Made made) {
  const TensorId id = add_tensor(std::move(made));
  network_.inputs.push_back(id);
  inputs_and_outputs_.insert(id.index);
  define(name, id);
  return id;
}

TensorId Reading::add_weight(Array value) {
  const TensorId id = add_constant(std::move(value));
  budget_.allow_for(network_[id].size());
  return id;
}

TensorId Reading::add_constant(Array value) {
  const TensorId id = add_tensor({value.type, value.shape});
  network_.tensors[id.index].constant = std::move(value);
  return id;
}

void Reading::take_memory(Bytes more, const std::string& place) {
  const bool too_much = more > budget_.memory;
  budget_.memory = budget_.memory - more;
  if (too_much)
    throw InputError(place, fmt::format("the constants that the model computes take more than {} "
                                        "and four times its weights; check the model's dimensions",
                                        millrace::to_text(most_folded)));
}

std::vector<TensorId> Reading::add_layer(Layer layer,
                                         const std::vector<std::optional<Made>>& outputs,
                                         const std::string& place) {
  for (const std::optional<Made>& output : outputs) {
    if (output) check_shape(output->type, output->shape, place);
    layer.outputs.push_back(output ? add_tensor(*output) : TensorId());
  }
  const std::vector<TensorId> made = layer.outputs;
  const LayerId id(network_.layers.size());
  network_.layers.push_back(std::move(layer));
  std::optional<std::vector<Folded>> values = fold(network_, id, budget_);
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

std::string Reading::unique_layer_name(const std::string& base) {
  std::string name = base;
  while (!layer_names_.emplace(name, 1).second)
    name = fmt::format("{}_{}", base, ++layer_names_[base]);
  return name;
}

void Reading::define(const std::string& name, TensorId id) {
  values_.emplace(name, id);
  std::string& own = network_.tensors[id.index].name;
  if (own.empty()) own = name;
}

std::optional<TensorId> Reading::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

const Shape* Reading::declared(const std::string& name) const {
  const auto found = declared_.find(name);
  return found == declared_.end() ? nullptr : &found->second;
}

void Reading::add_output(const std::string& name, TensorId id) {
  const bool is_taken = inputs_and_outputs_.contains(id.index);
  if (is_taken && network_[id].name != name) {
    const Made made{network_[id].type, network_[id].shape};
    id = add_layer({name + ".copy", Reshape{}, {id}, {}}, {made}, source_.file).front();
  }
  network_.outputs.push_back(id);
  if (inputs_and_outputs_.insert(id.index).second) network_.tensors[id.index].name = name;
}

Network Reading::finish() && {
  files_.forget();
  for (const Layer& layer : network_.layers)
    for (const TensorId output : layer.outputs)
      if (output.valid() && network_[output].name.empty())
        network_.tensors[output.index].name = layer.name;
  return std::move(network_);
}

}  // namespace millrace::network::onnx
