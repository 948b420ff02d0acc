#include "network/affine.h"
#include "network/simplify/simplify.h"

namespace millrace::network {
namespace {

/// Walks the layers in order. A layer that is an affine map goes into the one before it, if
/// nobody else reads what lies between them.
class Folding {
 public:
  explicit Folding(Network& network)
      : network_(network),
        topology_(topology(network)),
        affines_(network.layers.size()),
        behind_(network.layers.size()),
        merged_(network.layers.size()) {}

  void run() {
    for (std::size_t i = 0; i < network_.layers.size(); ++i) visit(i);
    for (std::size_t i = 0; i < network_.layers.size(); ++i) {
      if (merged_[i]) become_normalization(i);
      if (behind_[i]) absorb(network_, network_.layers[i], *behind_[i]);
    }
    std::vector<Layer> kept;
    for (Layer& layer : network_.layers)
      if (!layer.outputs.empty()) kept.push_back(std::move(layer));
    network_.layers = std::move(kept);
  }

 private:
  void visit(std::size_t index) {
    Layer& layer = network_.layers[index];
    std::optional<Affine> affine = affine_of(network_, layer);
    if (!affine) return;
    if (const std::optional<std::size_t> before = sole_producer(affine->data)) {
      Layer& producer = network_.layers[*before];
      if (can_absorb(network_, producer, affine->scale.size())) {
        const auto all = behind_[*before] ? composed(*behind_[*before], *affine) : affine;
        if (all) {
          behind_[*before] = all;
          take_output(producer, *before, layer);
          return;
        }
      } else if (const auto all =
                     affines_[*before] ? composed(*affines_[*before], *affine) : std::nullopt) {
        affine = all;
        producer.outputs.clear();
        affines_[*before].reset();
        merged_[*before] = false;
        merged_[index] = true;
      }
    }
    affines_[index] = std::move(affine);
  }

  /// The layer that makes the tensor, if only one layer reads it.
  std::optional<std::size_t> sole_producer(TensorId tensor) const {
    const std::optional<LayerId> producer = topology_.producer[tensor.index];
    if (!producer || topology_.is_output[tensor.index] ||
        topology_.consumers[tensor.index].size() != 1)
      return std::nullopt;
    return producer->index;
  }

  void take_output(Layer& producer, std::size_t index, Layer& layer) {
    producer.outputs = std::move(layer.outputs);
    layer.outputs.clear();
    topology_.producer[producer.outputs[0].index] = LayerId(index);
  }

  TensorId add_channels(const std::string& name, const std::vector<double>& values) {
    const std::vector<float> rounded(values.begin(), values.end());
    Array array =
        make_array<float>(DataType::float32, {static_cast<std::int64_t>(values.size())}, rounded);
    const TensorId id(network_.tensors.size());
    network_.tensors.push_back({name, array.type, array.shape, std::move(array)});
    return id;
  }

  void become_normalization(std::size_t index) {
    const Affine& affine = *affines_[index];
    Layer& layer = network_.layers[index];
    const std::vector<double> zeros(affine.scale.size(), 0);
    const std::vector<double> ones(affine.scale.size(), 1);
    layer.op = BatchNormalization{0};
    layer.inputs = {affine.data, add_channels(layer.name + ".scale", affine.scale),
                    add_channels(layer.name + ".bias", affine.shift),
                    add_channels(layer.name + ".mean", zeros),
                    add_channels(layer.name + ".variance", ones)};
  }

  Network& network_;
  Topology topology_;
  std::vector<std::optional<Affine>> affines_;  // by layer: what it computes, if it is one
  std::vector<std::optional<Affine>> behind_;   // by layer: what it has to absorb
  std::vector<bool> merged_;                    // by layer: it does the work of several
};

}  // namespace

Network fold_batch_normalization(Network network) {
  Folding(network).run();
  return network;
}

}  // namespace millrace::network
