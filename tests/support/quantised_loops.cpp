#include "support/quantised_loops.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "network/evaluate/evaluate.h"

namespace millrace::test {
namespace {

using network::Array;
using network::ConstView;
using network::DataType;
using network::Layer;
using network::Network;

bool multiplies(const Layer& layer) {
  return std::holds_alternative<network::Conv>(layer.op) ||
         std::holds_alternative<network::Gemm>(layer.op) ||
         std::holds_alternative<network::MatMul>(layer.op);
}

void round_to_steps(std::span<float> values, float step, std::pair<float, float> steps) {
  for (float& value : values)
    value =
        step <= 0 ? 0 : std::clamp(std::nearbyint(value / step), steps.first, steps.second) * step;
}

void round_weights(std::span<float> weights) {
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::abs(weight));
  round_to_steps(weights, largest / 127, {-127, 127});
}

void round_values(std::span<float> values, const network::Range& range) {
  const float step = (range.high - range.low) / 255, zero = std::nearbyint(-range.low / step);
  round_to_steps(values, step, {-zero, 255 - zero});
}

std::span<float> floats(network::Buffer& buffer) {
  return {reinterpret_cast<float*>(buffer.data()),
          static_cast<std::size_t>(buffer.size().count) / sizeof(float)};
}

network::Buffer copy_of(std::span<const std::byte> bytes) {
  network::Buffer copy(Bytes{static_cast<std::int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), copy.data());
  return copy;
}

/// What a layer reads; `rounded` keeps the copies that had to be made.
class Inputs {
 public:
  Inputs(const Network& network, const network::Calibration& calibration)
      : network_(network), calibration_(calibration) {}

  std::vector<ConstView> of(const Layer& layer, const std::vector<network::Buffer>& memory) {
    rounded_.clear();
    std::vector<ConstView> views;
    for (const TensorId id : layer.inputs) {
      views.emplace_back();
      if (!id.valid()) continue;
      const network::Tensor& tensor = network_[id];
      const auto bytes = tensor.constant ? tensor.constant->bytes() : memory[id.index].bytes();
      views.back() = {tensor.type, tensor.shape, bytes.data()};
      if (tensor.constant || tensor.type != DataType::float32 || !multiplies(layer)) continue;
      network::Buffer& copy = rounded_[id] = copy_of(bytes);
      round_values(floats(copy), calibration_.ranges.at(tensor.name));
      views.back().data = copy.data();
    }
    return views;
  }

 private:
  const Network& network_;
  const network::Calibration& calibration_;
  std::map<TensorId, network::Buffer> rounded_;
};

}  // namespace

Network with_rounded_weights(const Network& network) {
  Network result = network;
  for (const Layer& layer : network.layers) {
    if (!multiplies(layer) || !network[layer.inputs[1]].constant) continue;
    const Array& weights = *network[layer.inputs[1]].constant;
    network::Buffer copy = copy_of(weights.bytes());
    const std::span<float> values = floats(copy);
    const bool by_filter = std::holds_alternative<network::Conv>(layer.op);
    const std::size_t parts = by_filter ? static_cast<std::size_t>(weights.shape[0]) : 1;
    for (std::size_t part = 0; part < parts; ++part)
      round_weights(values.subspan(part * values.size() / parts, values.size() / parts));
    result.tensors[layer.inputs[1].index].constant =
        network::make_array(weights.type, weights.shape, std::move(copy));
  }
  return result;
}

std::vector<Array> compute_rounded(const Network& network, const network::Calibration& calibration,
                                   std::span<const Array> inputs) {
  std::vector<network::Buffer> memory(network.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    memory[network.inputs[i].index] = copy_of(inputs[i].bytes());
  Inputs rounding(network, calibration);
  for (const Layer& layer : network.layers) {
    const std::vector<ConstView> read = rounding.of(layer, memory);
    std::vector<network::View> written;
    for (const TensorId id : layer.outputs) {
      written.emplace_back();
      if (!id.valid()) continue;
      memory[id.index] = network::Buffer(network[id].size());
      written.back() = {network[id].type, network[id].shape, memory[id.index].data()};
    }
    network::evaluate(layer, read, written);
  }
  std::vector<Array> outputs;
  for (const TensorId id : network.outputs)
    outputs.push_back(
        network::make_array(network[id].type, network[id].shape, std::move(memory[id.index])));
  return outputs;
}

}  // namespace millrace::test
