#include "engine/openvino/library/part.h"

#include <fmt/format.h>

#include <unordered_map>

namespace millrace::engine::openvino {
namespace {

/// Smaller ones may be shapes and the like, which OpenVINO wants to know while it reads a model.
constexpr Bytes largest_inside{1024};

class Cutter {
 public:
  explicit Cutter(const network::Network& network) : whole_(network) {}

  Part cut(const Cutting& cutting) {
    part_.network.name = "part";
    for (const TensorId input : cutting.inputs) part_.network.inputs.push_back(moved(input));
    for (const LayerId layer : cutting.layers) add(whole_[layer]);
    for (const TensorId output : cutting.outputs) part_.network.outputs.push_back(moved(output));
    for (const TensorId weight : weights_) part_.network.inputs.push_back(weight);
    return std::move(part_);
  }

 private:
  void add(const network::Layer& layer) {
    network::Layer copy{fmt::format("L{}", part_.network.layers.size()), layer.op, {}, {}};
    for (const TensorId input : layer.inputs) copy.inputs.push_back(moved(input));
    for (const TensorId output : layer.outputs) {
      copy.outputs.push_back(moved(output));
      if (output.valid())
        part_.network.tensors.back().name = fmt::format("{}/{}", copy.name, copy.outputs.size());
    }
    part_.network.layers.push_back(std::move(copy));
  }

  TensorId moved(TensorId old) {
    if (!old.valid()) return old;
    const auto [entry, is_new] = ids_.try_emplace(old.index, TensorId(ids_.size()));
    if (is_new) copy(whole_[old], entry->second);
    return entry->second;
  }

  void copy(const network::Tensor& tensor, TensorId id) {
    part_.network.tensors.push_back(
        {fmt::format("t{}", id.index), tensor.type, tensor.shape, tensor.constant});
    if (!tensor.constant || tensor.size() <= largest_inside) return;
    part_.network.tensors.back().constant.reset();
    part_.weights.push_back(*tensor.constant);
    weights_.push_back(id);
  }

  const network::Network& whole_;
  Part part_;
  std::vector<TensorId> weights_;
  std::unordered_map<std::size_t, TensorId> ids_;  // by those of the whole network
};

}  // namespace

Part cut_out(const network::Network& network, const Cutting& cutting) {
  return Cutter(network).cut(cutting);
}

}  // namespace millrace::engine::openvino
