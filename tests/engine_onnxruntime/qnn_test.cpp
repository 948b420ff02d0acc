// Qualcomm's provider, where the package onnxruntime-qnn is. On a PC it computes on cores.
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "engine/plugin/plugin.h"
#include "network/evaluate/evaluate.h"
#include "support/network_builder.h"

namespace millrace::test {
namespace {

network::Network convolutions() {
  NetworkBuilder b;
  const TensorId x = b.conv(b.input({1, 3, 17, 16}), 8, window(3, {.stride = 2, .pad = 1}));
  const TensorId y = b.conv(b.unary(network::UnaryKind::relu, x), 8, window(3, {.pad = 1}), 2);
  b.output(b.binary(network::BinaryKind::add, x, y));
  return b.build();
}

TEST(QnnPackage, computes_what_the_loops_compute) {
  const engine::EngineOptions options{.settings = {{"onnxruntime", {{"provider", "qnn"}}}}};
  if (const Verdict start = engine::plugin::can_start("onnxruntime", options); !start)
    GTEST_SKIP() << start.reason();
  const auto engine = engine::plugin::make("onnxruntime", options);
  const network::Network network = convolutions();
  Random random(3);
  const std::vector<network::Array> inputs = random_inputs(random, network);
  const board::Processor npu{"npu0", board::ProcessorKind::npu, {}};
  const auto subnet = engine->prepare(engine::whole_network(network, npu));
  const std::byte* const in = inputs[0].memory->data();
  network::Buffer memory(network[network.outputs[0]].size());
  std::byte* const out = memory.data();
  subnet->run(std::span(&in, 1), std::span(&out, 1));
  const network::Array expected = network::evaluate(network, inputs)[0];
  const auto* found = reinterpret_cast<const float*>(memory.data());
  // The HTP of a board has float16.
  for (const float value : expected.values<float>()) EXPECT_NEAR(*found++, value, 5e-3);
}

}  // namespace
}  // namespace millrace::test
