// Costs of layers at their shapes.
#include <algorithm>
#include <set>
#include <type_traits>

#include "network/network.h"

namespace millrace::network {
namespace {

bool is_floating(DataType type) {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::float16;
}

std::int64_t elements_of(const Network& network, TensorId id) {
  return element_count(network[id].shape, network[id].name);
}

template <class T, class... Types>
constexpr bool is_any_of = (std::is_same_v<T, Types> || ...);

/// Multiply-accumulates: per output element, the length of its sum of products.
struct Macs {
  const Network& network;
  const Layer& layer;

  std::int64_t output() const { return elements_of(network, layer.outputs[0]); }
  const Shape& shape(std::size_t input) const { return network[layer.inputs[input]].shape; }

  std::int64_t convolution(std::size_t weight_input) const {
    const Shape& weight = shape(weight_input);
    return weight[0] == 0 ? 0 : output() * (element_count(weight) / weight[0]);
  }
  std::int64_t product() const { return shape(0).empty() ? output() : output() * shape(0).back(); }

  std::int64_t operator()(const Conv&) const { return convolution(1); }
  std::int64_t operator()(const ConvInteger&) const { return convolution(1); }
  std::int64_t operator()(const QLinearConv&) const { return convolution(3); }
  std::int64_t operator()(const ConvTranspose&) const {
    const Shape& weight = shape(1);
    const std::int64_t per_input = weight[0] == 0 ? 0 : element_count(weight) / weight[0];
    return elements_of(network, layer.inputs[0]) * per_input;
  }
  std::int64_t operator()(const Gemm& op) const {
    return output() * shape(0)[op.transpose_a ? 0 : 1];
  }
  std::int64_t operator()(const MatMul&) const { return product(); }
  std::int64_t operator()(const MatMulInteger&) const { return product(); }
  std::int64_t operator()(const QLinearMatMul&) const { return product(); }
  /// Every step of the sequence multiplies its input and the state of before.
  std::int64_t operator()(const Recurrent&) const {
    if (shape(0).size() < 3 || shape(1).empty() || shape(2).empty()) return 0;
    const std::int64_t steps = shape(0)[0] * shape(0)[1];
    return steps * (element_count(shape(1)) + element_count(shape(2)));
  }
  std::int64_t operator()(const auto&) const { return 0; }
};

/// Which inputs are parameters of the model if they are constants: of integer products the weights
/// and the bias, of others all that are floating-point, but no scales.
struct IsParameter {
  std::size_t input;
  DataType type;

  bool operator()(const ConvInteger&) const { return input < 2; }
  bool operator()(const MatMulInteger&) const { return input < 2; }
  bool operator()(const QLinearConv&) const { return input == 3 || input == 8; }
  bool operator()(const QLinearMatMul&) const { return input == 0 || input == 3; }
  bool operator()(const QuantizeLinear&) const { return input == 0; }
  bool operator()(const DequantizeLinear&) const { return input == 0; }
  template <class Other>
  bool operator()(const Other&) const {
    return is_floating(type);
  }
};

/// Arithmetic other than multiply-accumulates.
struct OtherOperations {
  const Network& network;
  const Layer& layer;

  std::int64_t elements(TensorId id) const { return id.valid() ? elements_of(network, id) : 0; }
  std::int64_t input() const { return elements(layer.inputs[0]); }
  std::int64_t output() const { return elements(layer.outputs[0]); }

  std::int64_t operator()(const Pool& op) const {
    return output() * element_count(op.window.kernel);
  }
  std::int64_t operator()(const Lrn& op) const { return output() * op.size; }
  /// A pass each for mean, variance and result.
  std::int64_t operator()(const Normalization&) const { return 3 * input(); }
  std::int64_t operator()(const GridSample& op) const {
    return output() * (op.mode == SampleMode::cubic ? 16 : op.mode == SampleMode::linear ? 4 : 1);
  }
  std::int64_t operator()(const RoiAlign& op) const {
    return output() * 4 * std::max<std::int64_t>(1, op.sampling_ratio * op.sampling_ratio);
  }
  /// Every box with every other that is kept, in the worst case.
  std::int64_t operator()(const NonMaxSuppression& op) const {
    const std::int64_t boxes = network[layer.inputs[1]].shape.back();
    return elements(layer.inputs[1]) * std::min(boxes, op.most_per_class);
  }
  template <class Op>
  std::int64_t operator()(const Op&) const {
    constexpr bool multiplies = is_any_of<Op, Conv, ConvTranspose, Gemm, MatMul, ConvInteger,
                                          MatMulInteger, QLinearConv, QLinearMatMul>;
    constexpr bool moves =
        is_any_of<Op, Concat, Split, Slice, Gather, Reshape, Transpose, Pad, Cast, DepthToSpace,
                  Where, Tile, GatherElements, GatherNd, ScatterElements, ScatterNd, OneHot>;
    return multiplies || moves ? 0 : std::max(input(), output());
  }
};

std::vector<TensorId> constants_of(const Network& network, LayerId layer) {
  std::vector<TensorId> result;
  const std::vector<TensorId>& inputs = network[layer].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].valid() && network[inputs[i]].constant &&
        std::visit(IsParameter{i, network[inputs[i]].type}, network[layer].op))
      result.push_back(inputs[i]);
  return result;
}

}  // namespace

Cost cost_of(const Network& network, LayerId layer) {
  Cost cost;
  cost.macs = std::visit(Macs{network, network[layer]}, network[layer].op);
  cost.operations =
      2 * cost.macs + std::visit(OtherOperations{network, network[layer]}, network[layer].op);
  for (const TensorId id : constants_of(network, layer))
    cost.parameters += elements_of(network, id);
  for (const TensorId id : network[layer].inputs)
    if (id.valid()) cost.read += network[id].size();
  for (const TensorId id : network[layer].outputs)
    if (id.valid()) cost.written += network[id].size();
  return cost;
}

Cost cost_of(const Network& network) {
  Cost total;
  std::set<TensorId> seen;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const Cost cost = cost_of(network, LayerId(i));
    total.macs += cost.macs;
    total.operations += cost.operations;
    total.read += cost.read;
    total.written += cost.written;
    for (const TensorId id : constants_of(network, LayerId(i)))
      if (seen.insert(id).second) total.parameters += elements_of(network, id);
  }
  return total;
}

Bytes weights_of(const Network& network, LayerId layer) {
  Bytes sum{};
  for (const TensorId input : network[layer].inputs)
    if (input.valid() && network[input].constant) sum += network[input].size();
  return sum;
}

Bytes weights_of(const Network& network) {
  Bytes sum{};
  for (std::size_t i = 0; i < network.layers.size(); ++i) sum += weights_of(network, LayerId(i));
  return sum;
}

}  // namespace millrace::network
