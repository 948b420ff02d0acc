#include "engine/openvino/library/support.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/engine.h"
#include "engine/openvino/library/guarded.h"
#include "engine/openvino/library/model.h"
#include "network/onnx_writer/write_onnx.h"

namespace millrace::engine::openvino {
namespace {

/// What the operators say of themselves, before OpenVINO is asked.
Verdict can_be_told(const network::Network& network, LayerId layer) {
  if (Verdict verdict = network::can_write(network, layer); !verdict) return verdict;
  for (const auto* tensors : {&network[layer].inputs, &network[layer].outputs})
    for (const TensorId id : *tensors)
      if (id.valid() && network[id].size() == Bytes{})
        return Verdict::no("OpenVINO takes no tensor without elements");
  return Verdict::yes();
}

Verdict has_these_outputs(const ov::Model& model, const network::Network& part) {
  for (std::size_t i = 0; i < part.outputs.size(); ++i) {
    const network::Tensor& wanted = part[part.outputs[i]];
    const auto& given = model.output(i);
    if (given.get_element_type() != element_type(wanted.type))
      return Verdict::no(fmt::format("OpenVINO computes it as {}, not as {}",
                                     given.get_element_type().get_type_name(),
                                     network::to_text(wanted.type)));
    if (given.get_partial_shape().is_dynamic() || given.get_shape() != shape_of(wanted))
      return Verdict::no("OpenVINO does not know the sizes of its outputs beforehand");
  }
  return Verdict::yes();
}

Verdict ask(ov::Core& core, const Part& part, const std::string& bytes, const std::string& device) {
  try {
    const std::shared_ptr<ov::Model> model = read(core, part, bytes);
    if (Verdict verdict = has_these_outputs(*model, part.network); !verdict) return verdict;
    const ov::SupportedOpsMap supported = core.query_model(model, device);
    for (const auto& node : model->get_ordered_ops())
      if (ov::as_type_ptr<ov::op::v0::Constant>(node) == nullptr &&
          !supported.contains(node->get_friendly_name()))
        return Verdict::no(fmt::format("OpenVINO's device {} has no kernel for its operator {}",
                                       device, node->get_type_name()));
    return Verdict::yes();
  } catch (const std::exception& error) {
    return Verdict::no(fmt::format("OpenVINO reports '{}'", reason_of(error)));
  }
}

}  // namespace

Verdict SupportCache::supports(const network::Network& network, LayerId layer,
                               const std::string& device) {
  if (Verdict verdict = can_be_told(network, layer); !verdict) return verdict;
  const Border border = border_of(network, std::span(&layer, 1));
  const Part part = cut_out(network, {std::span(&layer, 1), border.inputs, border.outputs});
  const std::string bytes = written(part);
  const std::string key = device + " " + bytes;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  Verdict verdict = ask(core_, part, bytes, device);
  const std::lock_guard lock(mutex_);
  known_.emplace(key, verdict);
  return verdict;
}

}  // namespace millrace::engine::openvino
