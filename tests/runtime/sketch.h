#pragma once
// Small networks, boards and frames for the tests of the runtime.
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"
#include "plan/build.h"

namespace millrace::test {

/// A network under construction; every tensor is float32 of this shape.
class Sketch {
 public:
  static inline const network::Shape shape{1, 6};

  TensorId input(const std::string& name) {
    network.inputs.push_back(tensor(name));
    return network.inputs.back();
  }
  TensorId constant(const std::string& name, float value) {
    const TensorId id = tensor(name);
    const std::vector<float> values(6, value);
    network.tensors[id.index].constant =
        network::make_array<float>(network::DataType::float32, shape, values);
    return id;
  }
  TensorId add(const std::string& name, TensorId a, TensorId b) {
    const TensorId output = tensor(name);
    network.layers.push_back({name, network::Binary{network::BinaryKind::add}, {a, b}, {output}});
    return output;
  }

  network::Network network{"sketch", {}, {}, {}, {}};

 private:
  TensorId tensor(const std::string& name) {
    network.tensors.push_back({name, network::DataType::float32, shape, {}});
    return TensorId(network.tensors.size() - 1);
  }
};

/// x, then layer0, layer1, ... each adding one.
inline network::Network chain(std::size_t layers) {
  Sketch sketch;
  TensorId last = sketch.input("x");
  const TensorId one = sketch.constant("one", 1);
  for (std::size_t i = 0; i < layers; ++i) last = sketch.add(fmt::format("layer{}", i), last, one);
  sketch.network.outputs = {last};
  return sketch.network;
}

/// Processors that need not exist: for sessions that do not pin.
inline board::Board imagined_board(std::size_t processors) {
  board::Board board;
  for (std::size_t i = 0; i < processors; ++i)
    board.processors.push_back(
        {fmt::format("p{}", i), board::ProcessorKind::cpu, {static_cast<int>(i)}});
  return board;
}

/// Layer i runs on processor numbers[i].
inline plan::Mapping mapping(const std::vector<std::size_t>& numbers) {
  plan::Mapping result;
  for (std::size_t number : numbers) result.processors.push_back(ProcessorId(number));
  return result;
}

/// A frame for a network whose inputs are those of a Sketch: all values are `value`.
inline std::vector<network::Array> frame(const network::Network& network, float value) {
  const std::vector<float> values(6, value);
  return std::vector<network::Array>(
      network.inputs.size(),
      network::make_array<float>(network::DataType::float32, Sketch::shape, values));
}

inline float value_of(const network::Array& array) { return array.values<float>()[0]; }

}  // namespace millrace::test
