#include <fmt/format.h>

#include <unordered_set>

#include "network/evaluate/evaluate.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// Gives every float16 tensor inside the network the type float32, and those at its border a
/// float32 tensor beside them.
class Widening {
 public:
  explicit Widening(Network& network)
      : network_(network), tensors_(network.tensors.size()), topology_(topology(network)) {
    for (const Layer& layer : network.layers) names_.insert(layer.name);
  }

  void run() {
    for (std::size_t i = 0; i < tensors_; ++i) inside_.push_back(widened(TensorId(i)));
    for (Layer& layer : network_.layers) {
      replace(layer.inputs);
      replace(layer.outputs);
      if (std::holds_alternative<Cast>(layer.op) && keeps_type(layer)) layer.op = Reshape{};
    }
    network_.layers.insert(network_.layers.begin(), before_.begin(), before_.end());
    network_.layers.insert(network_.layers.end(), behind_.begin(), behind_.end());
  }

 private:
  void replace(std::vector<TensorId>& ids) const {
    for (TensorId& id : ids)
      if (id.valid()) id = inside_[id.index];
  }

  /// The tensor that layers use in this one's place.
  TensorId widened(TensorId id) {
    if (network_[id].type != DataType::float16) return id;
    const bool made = topology_.producer[id.index].has_value();
    const bool given = !made && !network_[id].constant;
    if (!given && !topology_.is_output[id.index]) {
      widen(network_.tensors[id.index]);
      return id;
    }
    Tensor inside = network_[id];
    inside.name += ".float32";
    widen(inside);
    const TensorId wide(network_.tensors.size());
    network_.tensors.push_back(std::move(inside));
    if (given) before_.push_back({layer_name(id), Cast{}, {id}, {wide}});
    if (made) behind_.push_back({layer_name(id), Cast{}, {wide}, {id}});
    return wide;
  }

  static void widen(Tensor& tensor) {
    tensor.type = DataType::float32;
    if (tensor.constant) tensor.constant = converted(*tensor.constant, tensor.type);
    if (tensor.quantized) tensor.quantized->scale = converted(tensor.quantized->scale, tensor.type);
  }

  bool keeps_type(const Layer& cast) const {
    return network_[cast.inputs[0]].type == network_[cast.outputs[0]].type;
  }

  std::string layer_name(TensorId id) {
    const std::string base = network_[id].name + ".cast";
    std::string name = base;
    for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

  Network& network_;
  std::size_t tensors_;  // before any is added
  Topology topology_;
  std::vector<TensorId> inside_;  // by tensor
  std::vector<Layer> before_, behind_;
  std::unordered_set<std::string> names_;
};

}  // namespace

Network widen_half(Network network) {
  Widening(network).run();
  return network;
}

}  // namespace millrace::network
