#include "network/onnx/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "network/onnx/tensor_data.h"

namespace millrace::network::onnx {
namespace {

constexpr std::size_t most_nodes_read = 1 << 22;
constexpr std::size_t most_inside = 32;  // graphs inside of graphs

}  // namespace

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
  scopes_.back().values.emplace(name, Known{id, std::nullopt});
  std::string& own = network_.tensors[id.index].name;
  if (own.empty()) own = prefix() + name;
}

void Reading::define(const std::string& name, const Known& value) {
  if (value.id) return define(name, *value.id);
  scopes_.back().values.emplace(name, value);
}

void Reading::lift_limits() {
  budget_.memory = Bytes{std::numeric_limits<std::int64_t>::max()};
  budget_.steps = std::numeric_limits<double>::infinity();
}

void Reading::replace(const std::string& name, TensorId id) {
  scopes_.back().values.erase(name);
  define(name, id);
}

void Reading::define_problem(const std::string& name, std::size_t problem) {
  scopes_.back().values.insert_or_assign(name, Known{std::nullopt, problem});
}

void Reading::define_nothing(const std::string& name) { define(name, Known{}); }

const Known* Reading::lookup(const std::string& name) const {
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].values.find(name);
    if (found != scopes_[i].values.end()) return &found->second;
    if (!scopes_[i].sees_outer) break;
  }
  return nullptr;
}

Known Reading::known(const std::string& name) const {
  const Known* value = lookup(name);
  return value != nullptr ? *value : Known{};
}

void Reading::enter(const Inner& inner) {
  if (scopes_.size() > most_inside)
    throw InputError(inner.place, fmt::format("more than {} graphs or functions lie inside each "
                                              "other",
                                              most_inside));
  scopes_.push_back({inner.prefix, inner.opset.value_or(opset()), !inner.opset, {}});
}

void Reading::count_nodes(std::size_t more) {
  nodes_ += more;
  if (nodes_ > most_nodes_read)
    throw InputError(source_.file, fmt::format("its loops and functions make more than {} nodes "
                                               "and names",
                                               most_nodes_read));
}

std::vector<std::string> Reading::inputs_behind(TensorId id) {
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
    const auto said = behind_.find(input.index);
    for (const std::string& name :
         said != behind_.end() ? said->second : std::vector{network_[input].name})
      if (names.size() < most_named && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  }
  return names;
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
