#include "network/random_values.h"

namespace millrace::network {

void fill_random(Buffer& buffer, DataType type, Random& random) {
  if (type != DataType::float32) return;
  float* values = reinterpret_cast<float*>(buffer.data());
  const auto count = static_cast<std::size_t>(buffer.size().count) / sizeof(float);
  for (std::size_t i = 0; i < count; ++i) values[i] = random.uniform(-1, 1);
}

std::vector<Array> random_inputs(const Network& network, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  for (const TensorId id : network.inputs) {
    Buffer memory(network[id].size());
    fill_random(memory, network[id].type, random);
    inputs.push_back(make_array(network[id].type, network[id].shape, std::move(memory)));
  }
  return inputs;
}

}  // namespace millrace::network
