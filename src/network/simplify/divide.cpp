#include "network/simplify/divide.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "network/operator_kinds.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// Output channels of a part.
struct Channels {
  std::int64_t first = 0, count = 0;
};

/// Of about equal size. Borders are at multiples of what kernels compute at once, if there are
/// enough channels.
std::vector<Channels> parts_of(std::int64_t channels, std::int64_t parts) {
  constexpr std::int64_t vector = 16;
  const std::int64_t unit = channels >= parts * vector ? vector : 1;
  std::vector<Channels> result;
  std::int64_t first = 0;
  for (std::int64_t i = 1; i <= parts; ++i) {
    const std::int64_t end = i == parts ? channels : channels * i / parts / unit * unit;
    result.push_back({first, end - first});
    first = end;
  }
  return result;
}

Array columns_of(const Array& array, const Channels& part) {
  Shape shape = array.shape;
  const auto each = static_cast<std::size_t>(size_of(array.type).count);
  const std::size_t row = static_cast<std::size_t>(shape.back()) * each;
  shape.back() = part.count;
  const std::size_t taken = static_cast<std::size_t>(part.count) * each;
  Buffer memory = Buffer::uninitialized(size_of(array.type) * element_count(shape));
  const std::byte* from = array.bytes().data() + static_cast<std::size_t>(part.first) * each;
  for (std::size_t at = 0; at < memory.bytes().size(); at += taken, from += row)
    std::memcpy(memory.data() + at, from, taken);
  return make_array(array.type, std::move(shape), std::move(memory));
}

/// Whether the first dimension of the weights is that of the output channels; else the last is.
bool lies_by_rows(const Layer& layer) {
  if (const auto* gemm = std::get_if<Gemm>(&layer.op)) return gemm->transpose_b;
  return std::holds_alternative<Conv>(layer.op);
}

std::int64_t axis_of_channels(const Network& network, const Layer& layer) {
  if (!std::holds_alternative<MatMul>(layer.op)) return 1;
  return std::ssize(network[layer.outputs[0]].shape) - 1;
}

std::int64_t channels_of(const Network& network, const Layer& layer) {
  const Shape& weights = network[layer.inputs[1]].shape;
  return lies_by_rows(layer) ? weights.front() : weights.back();
}

class Divider {
 public:
  Divider(Network network, const Division& division)
      : network_(std::move(network)), topology_(topology(network_)) {
    for (const auto& [name, parts] : division) plan(name, parts);
  }

  Network run() {
    std::vector<Layer> layers = std::exchange(network_.layers, {});
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (divided_.contains(LayerId(i)))
        add_parts(LayerId(i), layers[i]);
      else if (const auto of = functions_.find(LayerId(i)); of != functions_.end())
        add_functions(layers[i], layers[of->second.index].name);
      else
        network_.layers.push_back(std::move(layers[i]));
    }
    return remove_unused(std::move(network_));
  }

 private:
  void plan(const std::string& name, std::int64_t parts) {
    const auto found = std::ranges::find(network_.layers, name, &Layer::name);
    if (found == network_.layers.end())
      throw InputError(name,
                       "is to be divided, but the network has no such layer; make the plan "
                       "again");
    const LayerId id(static_cast<std::size_t>(found - network_.layers.begin()));
    if (const Verdict verdict = can_be_divided(network_, id, parts); !verdict)
      throw InputError(name, "cannot be divided: " + verdict.reason());
    divided_[id] = parts;
    if (const auto function = function_after(*found)) functions_[*function] = id;
  }

  std::optional<LayerId> function_after(const Layer& layer) const {
    const TensorId made = layer.outputs[0];
    const auto& consumers = topology_.consumers[made.index];
    if (consumers.size() != 1 || topology_.is_output[made.index]) return std::nullopt;
    const bool is_one = std::holds_alternative<Unary>(network_[consumers.front()].op);
    return is_one ? std::optional(consumers.front()) : std::nullopt;
  }

  TensorId add(std::string name, Array value) {
    const TensorId id = add({std::move(name), value.type, value.shape, {}});
    network_.tensors.back().constant = std::move(value);
    return id;
  }
  TensorId add(Tensor tensor) {
    network_.tensors.push_back(std::move(tensor));
    return TensorId(network_.tensors.size() - 1);
  }

  /// A tensor like the whole, of some of its channels.
  TensorId add_part(TensorId whole, std::size_t axis,
                    const std::pair<std::string, Channels>& part) {
    Tensor tensor{
        network_[whole].name + part.first, network_[whole].type, network_[whole].shape, {}};
    tensor.shape[axis] = part.second.count;
    return add(std::move(tensor));
  }

  TensorId part_of_weights(const Layer& layer, const std::pair<std::string, Channels>& part) {
    const Tensor& whole = network_[layer.inputs[1]];
    const auto& [name, channels] = part;
    return add(whole.name + name, lies_by_rows(layer)
                                      ? rows_of(*whole.constant, channels.first, channels.count)
                                      : columns_of(*whole.constant, channels));
  }

  /// A number for all channels stays as it is.
  TensorId part_of_addend(const Layer& layer, const std::pair<std::string, Channels>& part) {
    const Tensor& whole = network_[layer.inputs[2]];
    if (whole.shape.empty() || whole.shape.back() == 1) return layer.inputs[2];
    return add(whole.name + part.first, columns_of(*whole.constant, part.second));
  }

  void add_parts(LayerId id, const Layer& layer) {
    const auto axis = static_cast<std::size_t>(axis_of_channels(network_, layer));
    std::vector<TensorId> made;
    for (const Channels& channels : parts_of(channels_of(network_, layer), divided_.at(id))) {
      const std::pair part(fmt::format("/part{}", made.size() + 1), channels);
      Layer one{layer.name + part.first, layer.op, layer.inputs, {}};
      one.inputs[1] = part_of_weights(layer, part);
      if (layer.inputs.size() > 2 && layer.inputs[2].valid())
        one.inputs[2] = part_of_addend(layer, part);
      one.outputs = {made.emplace_back(add_part(layer.outputs[0], axis, part))};
      network_.layers.push_back(std::move(one));
    }
    made_[layer.name] = {made, static_cast<std::int64_t>(axis)};
    const auto is_of_this = [&](const auto& entry) { return entry.second == id; };
    if (std::ranges::none_of(functions_, is_of_this)) join(layer.name, layer.outputs[0], made);
  }

  void add_functions(const Layer& function, const std::string& of) {
    const auto& [parts, axis] = made_.at(of);
    std::vector<TensorId> made;
    for (const TensorId part : parts) {
      const std::string name = fmt::format("/part{}", made.size() + 1);
      Tensor tensor = network_[part];
      tensor.name = network_[function.outputs[0]].name + name;
      tensor.type = network_[function.outputs[0]].type;
      made.push_back(add(std::move(tensor)));
      network_.layers.push_back({function.name + name, function.op, {part}, {made.back()}});
    }
    join(of, function.outputs[0], made);
  }

  void join(const std::string& name, TensorId whole, const std::vector<TensorId>& parts) {
    network_.layers.push_back({name + "/joined", Concat{made_.at(name).axis}, parts, {whole}});
  }

  struct Made {
    std::vector<TensorId> parts;
    std::int64_t axis = 0;
  };

  Network network_;
  Topology topology_;
  std::map<LayerId, std::int64_t> divided_;
  std::map<LayerId, LayerId> functions_;  // after which of the divided layers
  std::map<std::string, Made> made_;      // by the name of the divided layer
};

/// Constants that are cut need no other form beside them.
bool is_plain_constant(const Network& network, const Layer& layer, std::size_t input) {
  if (layer.inputs.size() <= input || !layer.inputs[input].valid()) return true;
  const Tensor& tensor = network[layer.inputs[input]];
  return tensor.constant && !tensor.quantized;
}

}  // namespace

Verdict can_be_divided(const Network& network, LayerId id, std::int64_t parts) {
  const Layer& layer = network[id];
  const auto* const conv = std::get_if<Conv>(&layer.op);
  if (!is_product(layer.op) && conv == nullptr)
    return Verdict::no(
        fmt::format("it is no product and no convolution, but {}", name_of(layer.op)));
  if (conv != nullptr && conv->groups != 1) return Verdict::no("its channels are in groups");
  if (!is_plain_constant(network, layer, 1) || !is_plain_constant(network, layer, 2))
    return Verdict::no("its weights are no constant real numbers");
  if (is_product(layer.op) && network[layer.inputs[1]].shape.size() != 2)
    return Verdict::no("its weights are no matrix");
  if (const std::int64_t channels = channels_of(network, layer); parts < 2 || channels < parts)
    return Verdict::no(fmt::format("it has {} output channels for {} parts", channels, parts));
  return Verdict::yes();
}

Network divided(Network network, const Division& division) {
  if (division.empty()) return network;
  return Divider(std::move(network), division).run();
}

}  // namespace millrace::network
