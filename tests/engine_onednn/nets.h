#pragma once
// Networks for these tests, and how they are run and compared.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "engine/onednn/onednn.h"
#include "engine/onednn/primitives/layout.h"
#include "network/evaluate/evaluate.h"
#include "network/network.h"
#include "support/network_builder.h"

namespace millrace::test::onednn {

using network::Array;
using network::DataType;
using network::Shape;

inline Array noise(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1) {
  Random random(seed);
  return random_array(random, DataType::float32, shape, {low, high});
}

inline engine::onednn::Desc tagged(const Shape& shape, dnnl::memory::format_tag tag) {
  return {shape, dnnl::memory::data_type::f32, tag};
}

/// With the layers that these tests need most.
class Net : public NetworkBuilder {
 public:
  TensorId weights(const Shape& shape) { return constant(shape, {-0.5, 0.5}); }
  /// k x k, as large as the input for an odd k and stride 1.
  TensorId conv(TensorId x, std::int64_t channels, std::int64_t k, std::int64_t stride = 1) {
    WindowOptions options;
    options.stride = stride;
    options.pad = k / 2;
    return NetworkBuilder::conv(x, channels, window(k, options));
  }
  TensorId relu(TensorId x) { return unary(network::UnaryKind::relu, x); }
};

inline board::Processor cores(int count = 1) {
  board::Processor processor;
  processor.name = "test";
  for (int core = 0; core < count; ++core) processor.cores.push_back(core);
  return processor;
}

/// Runs it once; the results are as they lie.
inline std::vector<network::Buffer> run(engine::Subnet& subnet,
                                        const std::vector<const std::byte*>& in) {
  std::vector<network::Buffer> buffers;
  std::vector<std::byte*> out;
  for (const engine::Port& port : subnet.outputs()) buffers.emplace_back(port.layout.size);
  for (network::Buffer& buffer : buffers) out.push_back(buffer.data());
  subnet.run(in, out);
  return buffers;
}

inline std::vector<Array> inputs_of(const network::Network& network) {
  std::vector<Array> inputs;
  for (const TensorId id : network.inputs)
    inputs.push_back(noise(network[id].shape, 99 + id.index));
  return inputs;
}
inline std::vector<const std::byte*> pointers(const std::vector<Array>& arrays) {
  std::vector<const std::byte*> result;
  for (const Array& array : arrays) result.push_back(array.memory->data());
  return result;
}

/// Results of the network in one piece on the engine, in plain layouts.
inline std::vector<Array> results(engine::Engine& engine, const network::Network& network,
                                  int core_count = 1) {
  const auto subnet = engine.prepare(engine::whole_network(network, cores(core_count)));
  const auto inputs = inputs_of(network);
  auto buffers = run(*subnet, pointers(inputs));
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const auto& tensor = network[network.outputs[i]];
    arrays.push_back(network::make_array(tensor.type, tensor.shape, std::move(buffers[i])));
  }
  return arrays;
}

/// Largest difference over largest magnitude.
inline double difference(std::span<const float> a, std::span<const float> b) {
  double most = 0, scale = 1e-30;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    scale = std::max(scale, std::abs(static_cast<double>(b[i])));
    if (a[i] != a[i] || b[i] != b[i]) return 1e30;
  }
  return most / scale;
}

/// Within the bound of what the plain loops give, on one core and on two.
inline void expect_equal_to_loops(const Net& net, double bound = 2e-5) {
  const auto engine = engine::onednn::make();
  const network::Network network = net.build();
  const auto wanted = network::evaluate(network, inputs_of(network));
  for (const int core_count : {1, 2}) {
    const auto found = results(*engine, network, core_count);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].shape, wanted[i].shape);
      EXPECT_LT(difference(found[i].values<float>(), wanted[i].values<float>()), bound)
          << core_count << " cores";
    }
  }
}

}  // namespace millrace::test::onednn
