#include "engine/openvino/library/compiling.h"

#include <algorithm>

namespace millrace::engine::openvino {
namespace {

void add_cores(ov::AnyMap& properties, const board::Processor& processor) {
  const auto threads = static_cast<int>(std::max<std::size_t>(processor.cores.size(), 1));
  properties.insert(ov::num_streams(1));
  properties.insert(ov::inference_num_threads(threads));
  // The caller binds its thread, and helpers start with the binding of who starts them.
  properties.insert(ov::hint::enable_cpu_pinning(false));
  properties.insert(ov::hint::enable_hyper_threading(true));
  properties.insert(ov::hint::scheduling_core_type(ov::hint::SchedulingCoreType::ANY_CORE));
}

ov::element::Type type_of(board::Precision precision) {
  if (precision == board::Precision::bf16) return ov::element::bf16;
  return precision == board::Precision::f16 ? ov::element::f16 : ov::element::f32;
}

}  // namespace

ov::AnyMap properties_for(const Target& target, const EngineOptions& options) {
  ov::AnyMap properties;
  const bool on_cores = target.device == "CPU";
  if (on_cores) add_cores(properties, target.processor);
  if (!on_cores && !options.compiled.empty())
    properties.insert(ov::cache_dir((options.compiled / "openvino").string()));
  if (target.processor.kind != board::ProcessorKind::npu)  // NPUs have one precision of their own
    properties.insert(ov::hint::inference_precision(type_of(target.precision)));
  const auto settings = options.settings.find("openvino");
  if (settings != options.settings.end())
    for (const auto& [name, value] : settings->second) properties[name] = value;
  return properties;
}

bool has_bfloat16(const ov::Core& core) {
  const std::vector<std::string> capabilities = core.get_property("CPU", ov::device::capabilities);
  return std::ranges::find(capabilities, ov::device::capability::BF16) != capabilities.end();
}

}  // namespace millrace::engine::openvino
