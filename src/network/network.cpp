#include "network/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace millrace::network {
namespace {

void add_once(std::vector<LayerId>& list, LayerId layer) {
  const auto place = std::lower_bound(list.begin(), list.end(), layer);
  if (place == list.end() || *place != layer) list.insert(place, layer);
}

/// Dimensions [axis, end) that an operator names; where it names a list, each of them in turn.
struct NamedDimensions {
  std::int64_t axis = 0, end = 0;
};

/// The dimensions named of the first input, or of what a OneHot makes.
struct DimensionsOf {
  std::vector<NamedDimensions> operator()(const Softmax& op) const { return {{op.axis, op.end}}; }
  std::vector<NamedDimensions> operator()(const Reduce& op) const { return each(op.axes); }
  std::vector<NamedDimensions> operator()(const Transpose& op) const {
    return each(op.permutation);
  }
  template <class Op>
  std::vector<NamedDimensions> operator()(const Op& op) const {
    if constexpr (requires { op.axis; })
      return {{op.axis, op.axis + 1}};
    else
      return {};
  }

 private:
  static std::vector<NamedDimensions> each(const Shape& list) {
    std::vector<NamedDimensions> result;
    for (const std::int64_t axis : list) result.push_back({axis, axis + 1});
    return result;
  }
};

/// Walks the layers in order and keeps what is known so far.
class Validator {
 public:
  explicit Validator(const Network& network) : network_(network), made_(network.tensors.size()) {}

  void run() {
    for (const Tensor& tensor : network_.tensors) check_tensor(tensor);
    for (const TensorId input : network_.inputs) make("the network's inputs", input);
    for (std::size_t i = 0; i < made_.size(); ++i)
      if (network_.tensors[i].constant) made_[i] = true;
    for (const Layer& layer : network_.layers) check_layer(layer);
    for (const TensorId output : network_.outputs) need("the network's outputs", output);
  }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& text) const {
    throw InputError(network_.name, fmt::format("{}: {}", where, text));
  }
  void check_tensor(const Tensor& tensor) const {
    const Bytes size = tensor.size();
    if (!tensor.constant) return;
    if (tensor.constant->shape != tensor.shape || tensor.constant->type != tensor.type ||
        tensor.constant->memory->size() != size)
      fail(tensor.name, "its constant value differs from it in shape, type or size");
    if (tensor.quantized && tensor.quantized->values.shape != tensor.shape)
      fail(tensor.name, "what it was dequantised from has another shape");
  }
  void check_id(const std::string& where, TensorId id) const {
    if (id.index >= made_.size()) fail(where, "refers to a tensor that does not exist");
  }
  void need(const std::string& where, TensorId id) const {
    check_id(where, id);
    if (!made_[id.index])
      fail(where, fmt::format("'{}' is used before anything makes it", network_[id].name));
  }
  void make(const std::string& where, TensorId id) {
    check_id(where, id);
    if (made_[id.index] || network_[id].constant)
      fail(where, fmt::format("'{}' is made twice", network_[id].name));
    made_[id.index] = true;
  }
  void check_layer(const Layer& layer) {
    if (layer.name.empty()) fail("a layer", "has no name");
    if (!names_.insert(layer.name).second) fail(layer.name, "two layers have this name");
    for (const TensorId input : layer.inputs)
      if (input.valid()) need(layer.name, input);
    for (const TensorId output : layer.outputs)
      if (output.valid()) make(layer.name, output);
    check_dimensions(layer);
  }
  /// Engines index shapes with them.
  void check_dimensions(const Layer& layer) const {
    const bool is_made = std::holds_alternative<OneHot>(layer.op);
    const std::vector<TensorId>& tensors = is_made ? layer.outputs : layer.inputs;
    const std::vector<NamedDimensions> dimensions = std::visit(DimensionsOf{}, layer.op);
    const auto* turned = std::get_if<Transpose>(&layer.op);
    if (dimensions.empty() && turned == nullptr) return;
    if (tensors.empty() || !tensors[0].valid()) fail(layer.name, "has nothing to work on");
    const std::int64_t rank = std::ssize(network_[tensors[0]].shape);
    for (const auto& [axis, end] : dimensions)
      if (axis < 0 || axis > end || end > rank)
        fail(layer.name, fmt::format("names the dimension {}, expected 0 to {} of a tensor of {} "
                                     "dimensions; count from the first",
                                     axis, rank - 1, rank));
    if (turned != nullptr) check_permutation(layer, turned->permutation, rank);
  }
  void check_permutation(const Layer& layer, Shape permutation, std::int64_t rank) const {
    std::ranges::sort(permutation);
    const bool is_whole = std::ssize(permutation) == rank &&
                          std::ranges::adjacent_find(permutation) == permutation.end();
    if (!is_whole)
      fail(layer.name, fmt::format("does not name each of {} dimensions once", rank));
  }

  const Network& network_;
  std::vector<bool> made_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Topology topology(const Network& network) {
  Topology result;
  result.producer.resize(network.tensors.size());
  result.consumers.resize(network.tensors.size());
  result.predecessors.resize(network.layers.size());
  result.is_output.resize(network.tensors.size());
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const LayerId layer(i);
    for (const TensorId input : network[layer].inputs) {
      if (!input.valid()) continue;
      add_once(result.consumers[input.index], layer);
      if (const auto producer = result.producer[input.index])
        add_once(result.predecessors[i], *producer);
    }
    for (const TensorId output : network[layer].outputs)
      if (output.valid()) result.producer[output.index] = layer;
  }
  for (const TensorId output : network.outputs) result.is_output[output.index] = true;
  return result;
}

std::vector<TensorId> data_inputs(const Network& network, LayerId layer) {
  std::vector<TensorId> result;
  for (const TensorId input : network[layer].inputs)
    if (input.valid() && !network[input].constant &&
        std::find(result.begin(), result.end(), input) == result.end())
      result.push_back(input);
  return result;
}

void validate(const Network& network) { Validator(network).run(); }

}  // namespace millrace::network
