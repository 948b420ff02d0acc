// Layers that can_batch says yes to make of joined frames what they make of each: on ONNX's own
// cases, in which every operator stands with many attributes and shapes.
#include <gtest/gtest.h>

#include <algorithm>

#include "network/batch.h"
#include "support/onnx_cases.h"

namespace millrace::test {
namespace {

using network::Array;
using network::Network;

constexpr std::int64_t frames = 3;
constexpr std::size_t place = 1;  // of the case's own frame among the others

std::vector<LayerId> all_layers(const Network& network) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return layers;
}

bool can_batch(const Network& network) {
  const auto layers = all_layers(network);
  const auto made_once = [&](TensorId output) {
    return network[output].constant || network[output].shape.empty();
  };
  return !layers.empty() &&
         std::none_of(network.outputs.begin(), network.outputs.end(), made_once) &&
         std::all_of(layers.begin(), layers.end(), [&](LayerId layer) {
           return static_cast<bool>(network::can_batch(network, layer));
         });
}

bool is_read(const Network& network, TensorId tensor) {
  return std::any_of(network.layers.begin(), network.layers.end(), [&](const auto& layer) {
    return std::find(layer.inputs.begin(), layer.inputs.end(), tensor) != layer.inputs.end();
  });
}

/// The frame between others of zero bytes.
Array joined(const Array& frame, const network::Tensor& tensor) {
  network::Buffer memory(frame.memory->size() * frames);
  const auto bytes = frame.bytes();
  std::copy(bytes.begin(), bytes.end(), memory.data() + place * bytes.size());
  return network::make_array(tensor.type, tensor.shape, std::move(memory));
}

Array separated(const Array& all, const network::Tensor& tensor) {
  network::Buffer memory(tensor.size());
  const auto size = static_cast<std::size_t>(tensor.size().count);
  std::copy_n(all.bytes().begin() + static_cast<std::ptrdiff_t>(place * size), size, memory.data());
  return network::make_array(tensor.type, tensor.shape, std::move(memory));
}

std::vector<Array> compute_between_others(const Network& network, std::span<const Array> inputs) {
  const Network batch = network::with_batch(network, all_layers(network), frames);
  std::vector<Array> together;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorId input = batch.inputs[i];
    together.push_back(is_read(network, input) ? joined(inputs[i], batch[input]) : inputs[i]);
  }
  std::vector<Array> results = compute_by_loops(batch, together);
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = separated(results[i], network[network.outputs[i]]);
  return results;
}

TEST(OnnxBatch, frames_between_others_have_the_results_that_they_have_alone) {
  if (!std::filesystem::exists(onnx_cases_folder()))
    GTEST_SKIP() << "needs " << onnx_cases_folder().string() << " (package libonnx-testdata)";
  std::size_t batched = 0, different = 0;
  const Compute compute = [&](const Network& network, std::span<const Array> inputs) {
    std::vector<Array> alone = compute_by_loops(network, inputs);
    if (!can_batch(network)) return alone;
    ++batched;
    const std::vector<Array> found = compute_between_others(network, inputs);
    for (std::size_t i = 0; i < alone.size(); ++i)
      different += std::ranges::equal(found[i].bytes(), alone[i].bytes()) ? 0u : 1u;
    EXPECT_EQ(different, 0u) << network.name;
    return alone;
  };
  for (const char* group : {"node", "pytorch-converted", "pytorch-operator", "simple"})
    for (const OnnxCase& test : onnx_cases(group)) run_case(test, compute);
  EXPECT_GE(batched, 150u);
}

}  // namespace
}  // namespace millrace::test
