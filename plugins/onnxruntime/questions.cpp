#include "questions.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "failure.h"
#include "outputs.h"
#include "session.h"

namespace millrace_onnxruntime {
namespace {

const MillraceTensor* input_of(const MillraceSubnet& subnet, const MillraceNode& node,
                               std::size_t i) {
  return i < node.input_count && node.inputs[i] >= 0 ? &subnet.tensors[node.inputs[i]] : nullptr;
}

/// What the library finds out only when it runs.
std::string fault_of_conv_integer(const MillraceSubnet& subnet, const MillraceNode& node) {
  const MillraceTensor* const zero_points = input_of(subnet, node, 3);
  if (zero_points == nullptr || zero_points->bytes <= 1) return {};
  return "ONNX Runtime's ConvInteger knows one zero point for all output channels";
}

/// What the WebGPU plug-in 0.4.0 computes wrongly.
std::string fault_of_conv_on_gpu(const MillraceTensor& filters) {
  const std::int64_t *shape = filters.shape, *end = shape + filters.rank, in = shape[1];
  const bool is_pointwise =
      std::all_of(shape + 2, end, [](std::int64_t size) { return size == 1; });
  if (is_pointwise || shape[0] % 4 != 0 || in % 3 != 0 || in % 4 == 0 || in == 3) return {};
  return "ONNX Runtime's WebGPU plug-in gives wrong results for convolutions whose number of input "
         "channels is a multiple of 3, but neither 3 nor one of 4";
}

/// The second factor's place among the inputs, if both are integers; else 0.
std::size_t integer_factor(std::string_view op) {
  if (op == "ConvInteger" || op == "MatMulInteger") return 1;
  constexpr std::size_t behind_scale_and_zero_point = 3;
  return op == "QLinearConv" || op == "QLinearMatMul" ? behind_scale_and_zero_point : 0;
}

std::optional<Answer> known_limit(const Provider& provider, const MillraceSubnet& subnet,
                                  std::size_t number) {
  const MillraceNode& node = subnet.nodes[number];
  const std::string_view op = node.op;
  const std::size_t factor = integer_factor(op);
  const MillraceTensor* const second = input_of(subnet, node, factor == 0 ? 1 : factor);
  if (factor != 0 && provider.settings.provider == "cpu" && !multiplies_bytes_exactly() &&
      second != nullptr && second->type == millrace_int8)
    return Answer{millrace_no_type, number,
                  "ONNX Runtime's products by signed bytes are not exact on x86 processors without "
                  "VNNI"};
  std::string fault;
  if (op == "ConvInteger") fault = fault_of_conv_integer(subnet, node);
  if (op == "Conv" && provider.settings.provider == "webgpu" && second != nullptr)
    fault = fault_of_conv_on_gpu(*second);
  if (fault.empty()) return std::nullopt;
  return Answer{millrace_no_shape, number, fault};
}

/// Runs it once, on zeros.
void try_out(OnnxSession& session, const MillraceSubnet& subnet) {
  std::vector<std::vector<double>> memory;
  const auto buffers = [&](const std::int32_t* tensors, std::size_t count) {
    std::vector<MillraceBuffer> result(count);
    for (std::size_t i = 0; i < count; ++i) {
      result[i].bytes = subnet.tensors[tensors[i]].bytes;
      result[i].handle = memory.emplace_back(result[i].bytes / sizeof(double) + 1).data();
    }
    return result;
  };
  const auto in = buffers(subnet.inputs, subnet.input_count);
  const auto out = buffers(subnet.outputs, subnet.output_count);
  session.run(in.data(), out.data());
}

/// The library's words for a node that the provider does not run name neither.
Answer refusal(const Provider& provider, const MillraceSubnet& subnet, const std::string& reason) {
  const std::string& name = provider.settings.provider;
  const bool is_one = subnet.layer_count == 1;
  if (reason.find("fallback to CPU EP has been explicitly disabled") == std::string::npos)
    return {is_one ? millrace_no_attribute : millrace_not_together, 0, reason};
  if (!is_one)
    return {millrace_not_together, 0,
            "the provider " + name + " does not run these layers in one piece"};
  return {millrace_no_attribute, 0,
          "the provider " + name + " has no kernel for it of this type and form"};
}

}  // namespace

/// Other providers than the library's own find out only when they run that they cannot.
Answer can_run(const Provider& of_device, const MillraceSubnet& subnet) {
  for (std::size_t i = 0; i < subnet.node_count; ++i)
    if (std::optional<Answer> known = known_limit(of_device, subnet, i)) return *known;
  Provider provider = of_device;
  provider.compiled.clear();  // nothing of a question is worth keeping
  const bool is_own = provider.settings.provider == "cpu";
  try {
    OnnxSession session(provider, subnet, {.only_question = is_own});
    if (!is_own && subnet.layer_count == 1 && !asks_for_outputs(subnet)) try_out(session, subnet);
    return {};
  } catch (const LibraryFailure& failure) {
    return refusal(provider, subnet, failure.what());
  }
}

}  // namespace millrace_onnxruntime
