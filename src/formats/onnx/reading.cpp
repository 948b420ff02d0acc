#include "formats/onnx/reading.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "formats/onnx/tensor_data.h"

namespace millrace::formats::onnx {
namespace {

// Of what loops, branches and functions make of a small file. A layer takes some 10 KB in engines.
constexpr std::size_t most_nodes_inside = 1 << 17;
constexpr std::size_t most_layers_inside = 1 << 13;
constexpr std::size_t most_values_read = 1 << 20;
constexpr std::size_t most_name_bytes = 64 << 20;
constexpr std::size_t most_copied_bytes = 256 << 20;
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

void Reading::set_functions(Functions all) {
  functions_ = std::move(all);
  most_layers_inside_ = most_layers_inside;
  for (const auto& [key, function] : functions_)
    most_layers_inside_ += 4 * static_cast<std::size_t>(function->node_size());
}

void Reading::check_layers_inside(const std::string& place, const std::string& by) const {
  if (inside_.layers <= most_layers_inside_) return;
  throw TooMuchInside(
      place, fmt::format("{}: loops, branches and functions up to here make {} layers, and at most "
                         "{} can be planned; export it with fewer rounds or calls, or recurrent "
                         "layers as LSTM, GRU or RNN",
                         by, inside_.layers, most_layers_inside_));
}

void Reading::foresee(const MadeInside& before, std::size_t times, const std::string& place,
                      const std::string& by) {
  const MadeInside made = inside_;
  inside_.nodes += times * (made.nodes - before.nodes);
  inside_.layers += times * (made.layers - before.layers);
  inside_.values_read += times * (made.values_read - before.values_read);
  inside_.name_bytes += times * (made.name_bytes - before.name_bytes);
  check_layers_inside(place, by);
  check_nodes_inside();
  check_names_inside();
  if (!counts_repeats_) inside_ = made;
}

void Reading::take_memory(Bytes more, const std::string& place) {
  const bool too_much = more > budget_.memory;
  budget_.memory = budget_.memory - more;
  if (too_much)
    throw InputError(place, fmt::format("the constants that the model computes take more than {} "
                                        "and four times its weights; check the model's dimensions",
                                        millrace::to_text(network::most_folded)));
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
  std::optional<std::vector<network::Folded>> values = network::fold(network_, id, budget_);
  if (!values) {
    network_.layers.back().name = unique_layer_name(network_.layers.back().name);
    if (is_inside()) count_layer();
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
  if (!own.empty()) return;
  count_name(prefix().size() + name.size());
  own = prefix() + name;
}

void Reading::define(const std::string& name, const Known& value) {
  if (value.id) return define(name, *value.id);
  scopes_.back().values.emplace(name, value);
}

void Reading::lift_limits() {
  has_limits_ = false;
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
  scopes_.push_back(
      {inner.prefix, inner.opset.value_or(opset()), !inner.opset, inner.function, {}});
}

bool Reading::is_inside(const ::onnx::FunctionProto& function) const {
  return std::any_of(scopes_.begin(), scopes_.end(),
                     [&](const Names& scope) { return scope.function == &function; });
}

void Reading::count_node(std::size_t values_read) {
  if (!is_inside()) return;
  inside_.values_read += values_read;
  ++inside_.nodes;
  check_nodes_inside();
}

void Reading::check_nodes_inside() const {
  if (inside_.nodes <= most_nodes_inside && inside_.values_read <= most_values_read) return;
  throw TooMuchInside(source_.file,
                      fmt::format("its loops and functions make more than {} nodes, or nodes that "
                                  "read more than {} values; export it with fewer rounds or calls",
                                  most_nodes_inside, most_values_read));
}

void Reading::count_name(std::size_t bytes) {
  if (!is_inside()) return;
  inside_.name_bytes += bytes;
  check_names_inside();
}

void Reading::check_names_inside() const {
  if (inside_.name_bytes <= most_name_bytes) return;
  throw TooMuchInside(source_.file,
                      fmt::format("the names inside of its loops and functions take more than {}; "
                                  "give their nodes and tensors shorter names",
                                  millrace::to_text(Bytes{most_name_bytes})));
}

void Reading::count_copied(std::size_t bytes, const std::string& place) {
  inside_.copied_bytes += bytes;
  if (inside_.copied_bytes > most_copied_bytes)
    throw InputError(place,
                     fmt::format("the attributes of function calls up to here take more than {} "
                                 "where the functions use them; pass large values as inputs",
                                 millrace::to_text(Bytes{most_copied_bytes})));
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
  if (scopes_.size() > 1) return nullptr;  // names of functions and bodies are their own
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

}  // namespace millrace::formats::onnx
