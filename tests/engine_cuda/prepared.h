#pragma once
// Subnets that the tests prepare and run on the emulated driver, and the networks they are of.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "network/evaluate/evaluate.h"
#include "network/random_values.h"
#include "support/network_builder.h"

namespace millrace::engine::cuda {

inline const board::Processor gpu0{"gpu0", board::ProcessorKind::gpu, {}};
inline const board::Processor gpu1{"gpu1", board::ProcessorKind::gpu, {}};

/// A prepared subnet, with memory for what goes in and out.
struct Prepared {
  Prepared(Engine& engine, const SubnetRequest& request, std::vector<network::Array> given)
      : inputs(std::move(given)), subnet(engine.prepare(request)) {
    for (const network::Array& input : inputs) in.push_back(input.memory->data());
    for (const Port& port : subnet->outputs())
      out.push_back(outputs.emplace_back(port.layout.size).data());
  }
  /// All of a network, which is given random numbers.
  Prepared(Engine& engine, const network::Network& network,
           const board::Processor& processor = gpu0)
      : Prepared(engine, whole_network(network, processor), network::random_inputs(network, 5)) {}

  void run() { subnet->run(in, out); }

  std::vector<network::Array> inputs;
  std::unique_ptr<Subnet> subnet;
  std::vector<network::Buffer> outputs;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
};

/// Two branches that meet, then a product: each kind of kernel once.
inline network::Network branches() {
  test::NetworkBuilder builder;
  const TensorId x = builder.input({1, 6, 12, 12});
  const TensorId wide =
      builder.unary(network::UnaryKind::relu, builder.conv(x, 16, test::window(3, {.pad = 1})));
  const TensorId narrow = builder.conv(x, 8, test::window(1));
  const TensorId both = builder.concat(1, {wide, narrow});
  const TensorId pooled =
      builder.pool({network::PoolKind::max, test::window(2, {.stride = 2})}, both);
  const std::int64_t count = network::element_count(builder.shape(pooled));
  const TensorId flat = builder.layer(network::Reshape{}, {pooled}, {1, count});
  const TensorId weights = builder.constant({count, 10}, {-0.1, 0.1});
  builder.output(builder.layer(network::Gemm{}, {flat, weights, builder.constant({10})}, {1, 10}));
  return builder.build();
}

inline network::Network one_relu(std::int64_t count) {
  test::NetworkBuilder builder;
  builder.output(builder.unary(network::UnaryKind::relu, builder.input({count})));
  return builder.build();
}

/// As a share of the largest number, if that is not 0.
inline double largest_error(const network::Buffer& found, const network::Array& expected) {
  const auto b = expected.values<float>();
  const auto* a = reinterpret_cast<const float*>(found.data());
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i])) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::fabs(static_cast<double>(a[i] - b[i])));
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
  }
  return largest == 0 ? difference : difference / largest;
}

inline double largest_error(const Prepared& prepared, const network::Network& network) {
  return largest_error(prepared.outputs[0], network::evaluate(network, prepared.inputs)[0]);
}

/// The text of the EngineError that `action` throws, or "no error".
inline std::string error_of(const auto& action) {
  try {
    action();
  } catch (const EngineError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace millrace::engine::cuda
