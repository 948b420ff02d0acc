#include "engine/onnxruntime/questions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "engine/onnxruntime/session.h"
#include "network/onnx_writer/write_onnx.h"

namespace millrace::engine::onnxruntime {
namespace {

using network::Network;
using network::Tensor;

bool is_real(network::DataType type) {
  return type == network::DataType::float32 || type == network::DataType::float64 ||
         type == network::DataType::float16;
}

/// Weights, whose values do not matter here, become inputs: they need not be read.
bool is_weight(const Tensor& tensor) {
  return tensor.constant && !tensor.quantized && is_real(tensor.type) &&
         network::element_count(tensor.shape) > 1;
}

/// The layer as a network of its own, with names that layers of the same structure share.
Network alone(const Network& network, LayerId layer) {
  Network result;
  std::map<TensorId, TensorId> known;
  const auto copy = [&](TensorId id) {
    if (!id.valid()) return id;
    const auto [at, is_new] = known.try_emplace(id, TensorId(result.tensors.size()));
    if (!is_new) return at->second;
    Tensor& tensor = result.tensors.emplace_back(network[id]);
    tensor.name = "t" + std::to_string(at->second.index);
    if (is_weight(tensor)) tensor.constant.reset();
    return at->second;
  };
  network::Layer& only = result.layers.emplace_back(network[layer]);
  only.name = "layer";
  std::transform(only.inputs.begin(), only.inputs.end(), only.inputs.begin(), copy);
  for (const auto& [from, to] : known)
    if (!result[to].constant) result.inputs.push_back(to);
  std::transform(only.outputs.begin(), only.outputs.end(), only.outputs.begin(), copy);
  for (const TensorId output : only.outputs)
    if (output.valid()) result.outputs.push_back(output);
  std::sort(result.inputs.begin(), result.inputs.end());
  return result;
}

/// What the library itself finds out only when it runs.
Verdict known_limits(const Network& network, const network::Layer& layer) {
  if (!std::holds_alternative<network::ConvInteger>(layer.op) || layer.inputs.size() < 4)
    return Verdict::yes();
  const TensorId zero_points = layer.inputs[3];
  if (!zero_points.valid() || network::element_count(network[zero_points].shape) <= 1)
    return Verdict::yes();
  return Verdict::no("ONNX Runtime's ConvInteger knows one zero point for all output channels");
}

Verdict ask(const Provider& provider, const Network& network, const board::Processor& processor) {
  constexpr std::array<LayerId, 1> layers{LayerId(0)};
  board::Processor one_core = processor;
  if (!one_core.cores.empty()) one_core.cores = {one_core.cores.front()};
  try {
    const OnnxSession session(provider, {&network, {layers, network.inputs, network.outputs}},
                              {one_core, true});
    return Verdict::yes();
  } catch (const EngineError& error) {
    return Verdict::no(error.what());
  }
}

}  // namespace

Verdict Questions::can_run(const Provider& provider, const Network& network, LayerId layer,
                           const board::Processor& processor) {
  if (Verdict written = network::can_write(network, layer); !written) return written;
  if (Verdict known = known_limits(network, network[layer]); !known) return known;
  const Network question = alone(network, layer);
  const std::string key = provider.settings.provider + processor.name +
                          network::write_onnx(question, {.weights_inside = false}).bytes;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = answers_.find(key); at != answers_.end()) return at->second;
  }
  const Verdict answer = ask(provider, question, processor);
  const std::lock_guard lock(mutex_);
  return answers_.emplace(key, answer).first->second;
}

}  // namespace millrace::engine::onnxruntime
