#include "network/random_values.h"

#include "network/half.h"

namespace millrace::network {
namespace {

/// With what `next` gives.
template <class T, class Next>
void fill(std::span<std::byte> memory, Next next) {
  T* values = reinterpret_cast<T*>(memory.data());
  const auto count = memory.size() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) values[i] = next();
}

}  // namespace

void fill_random(std::span<std::byte> memory, DataType type, Random& random) {
  if (type == DataType::float32) {
    fill<float>(memory, [&] { return random.uniform(-1, 1); });
  } else if (type == DataType::float16) {
    fill<Half>(memory, [&] { return to_half(double{random.uniform(-1, 1)}); });
  } else if (type == DataType::int8 || type == DataType::uint8) {
    fill<std::uint8_t>(memory, [&] { return static_cast<std::uint8_t>(random.below(256)); });
  }
}

std::vector<Array> random_inputs(const Network& network, std::uint64_t seed) {
  Random random(seed);
  std::vector<Array> inputs;
  for (const TensorId id : network.inputs) {
    Buffer memory(network[id].size());
    fill_random(memory.bytes(), network[id].type, random);
    inputs.push_back(make_array(network[id].type, network[id].shape, std::move(memory)));
  }
  return inputs;
}

}  // namespace millrace::network
