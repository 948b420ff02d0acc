#include "engine/onnxruntime/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// What the library finds out only when it runs.
Verdict can_run_conv_integer(const Network& network, const network::Layer& layer) {
  const TensorId zero_points = layer.inputs.size() < 4 ? TensorId() : layer.inputs[3];
  if (!zero_points.valid() || network::element_count(network[zero_points].shape) <= 1)
    return Verdict::yes();
  return Verdict::no("ONNX Runtime's ConvInteger knows one zero point for all output channels");
}

/// What the WebGPU plug-in 0.4.0 computes wrongly.
Verdict can_run_conv_on_gpu(const Network& network, const network::Layer& layer) {
  const network::Shape& filters = network[layer.inputs[1]].shape;
  const std::int64_t in = filters[1];
  const bool is_pointwise =
      std::all_of(filters.begin() + 2, filters.end(), [](std::int64_t size) { return size == 1; });
  if (is_pointwise || filters[0] % 4 != 0 || in % 3 != 0 || in % 4 == 0 || in == 3)
    return Verdict::yes();
  return Verdict::no(
      "ONNX Runtime's WebGPU plug-in gives wrong results for convolutions whose "
      "number of input channels is a multiple of 3, but neither 3 nor one of 4");
}

/// The second factor's place among the inputs, if both are integers; else 0.
std::size_t integer_factor(const network::Operator& op) {
  if (std::holds_alternative<network::ConvInteger>(op)) return 1;
  if (std::holds_alternative<network::MatMulInteger>(op)) return 1;
  constexpr std::size_t behind_scale_and_zero_point = 3;
  if (std::holds_alternative<network::QLinearConv>(op)) return behind_scale_and_zero_point;
  if (std::holds_alternative<network::QLinearMatMul>(op)) return behind_scale_and_zero_point;
  return 0;
}

Verdict known_limits(const Provider& provider, const Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const std::size_t factor = integer_factor(layer.op);
  if (factor != 0 && provider.settings.provider == "cpu" && !multiplies_bytes_exactly() &&
      network[layer.inputs[factor]].type == network::DataType::int8)
    return Verdict::no(
        "ONNX Runtime's products by signed bytes are not exact on x86 processors without VNNI");
  if (std::holds_alternative<network::ConvInteger>(layer.op))
    return can_run_conv_integer(network, layer);
  if (std::holds_alternative<network::Conv>(layer.op) && provider.settings.provider == "webgpu")
    return can_run_conv_on_gpu(network, layer);
  return Verdict::yes();
}

/// Runs it once, on zeros.
void try_out(OnnxSession& session, const Network& network) {
  std::vector<network::Buffer> memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const TensorId input : network.inputs)
    in.push_back(memory.emplace_back(network[input].size()).data());
  for (const TensorId output : network.outputs)
    out.push_back(memory.emplace_back(network[output].size()).data());
  session.run(in, out);
}

/// The library's words for a node that the provider does not run name neither.
Verdict refusal(const Provider& provider, const SessionPart& part, const std::string& reason) {
  if (reason.find("fallback to CPU EP has been explicitly disabled") == std::string::npos)
    return Verdict::no(reason);
  const std::string& name = provider.settings.provider;
  if (part.part.layers.size() > 1)
    return Verdict::no("the provider " + name + " does not run these layers in one piece");
  const network::Layer& layer = (*part.network)[part.part.layers.front()];
  return Verdict::no(fmt::format("the provider {} has no kernel for {} of this type and form", name,
                                 network::name_of(layer.op)));
}

/// Other providers than the library's own find out only when they run that they cannot.
Verdict ask(Provider provider, const SessionPart& part, const board::Processor& processor) {
  provider.compiled.clear();  // nothing of a question is worth keeping
  board::Processor one_core = processor;
  if (!one_core.cores.empty())
    one_core.cores.erase(one_core.cores.begin() + 1, one_core.cores.end());
  const bool is_own = provider.settings.provider == "cpu";
  try {
    OnnxSession session(provider, part, {one_core, is_own});
    if (!is_own && part.part.layers.size() == 1) try_out(session, *part.network);
    return Verdict::yes();
  } catch (const EngineError& error) {
    return refusal(provider, part, error.what());
  }
}

}  // namespace

Verdict Questions::can_run(const Provider& provider, const Network& network, LayerId layer,
                           const board::Processor& processor) {
  if (Verdict written = network::can_write(network, layer); !written) return written;
  if (Verdict known = known_limits(provider, network, layer); !known) return known;
  const Network question = alone(network, layer);
  constexpr std::array<LayerId, 1> layers{LayerId(0)};
  return answer(provider, {&question, {layers, question.inputs, question.outputs}}, processor);
}

Verdict Questions::can_run_together(const Provider& provider, const SessionPart& part,
                                    const board::Processor& processor) {
  return answer(provider, part, processor);
}

Verdict Questions::answer(const Provider& provider, const SessionPart& part,
                          const board::Processor& processor) {
  const std::string key =
      provider.settings.provider + processor.name +
      network::write_onnx(*part.network, part.part, {.weights_inside = false}).bytes;
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = answers_.find(key); at != answers_.end()) return at->second;
  }
  const Verdict verdict = ask(provider, part, processor);
  const std::lock_guard lock(mutex_);
  return answers_.emplace(key, verdict).first->second;
}

}  // namespace millrace::engine::onnxruntime
