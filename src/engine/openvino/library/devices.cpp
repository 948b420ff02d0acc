#include "engine/openvino/library/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "engine/openvino/library/guarded.h"

namespace millrace::engine::openvino {
namespace {

using board::ProcessorKind;

/// "GPU.1" is "gpu1".
std::string processor_name(std::string device) {
  std::erase(device, '.');
  std::ranges::transform(device, device.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return device;
}

std::optional<ProcessorKind> kind_of(const std::string& device) {
  if (device.starts_with("GPU")) return ProcessorKind::gpu;
  if (device.starts_with("NPU")) return ProcessorKind::npu;
  return std::nullopt;
}

ReachedDevice reached(const ov::Core& core, const std::string& name, ProcessorKind kind) {
  ReachedDevice result;
  result.engine = "openvino";
  result.device.name = processor_name(name);
  result.device.model = core.get_property(name, ov::device::full_name);
  result.device.kind = kind;
  result.device.processors = {result.device.name};
  result.device.scheduling = board::usual_scheduling(kind);
  result.driver = fmt::format("OpenVINO {}", ov::get_openvino_version().buildNumber);
  return result;
}

}  // namespace

// Never destroyed: at the end of the process its plug-ins may be gone before it.
ov::Core shared_core() {
  static const ov::Core& core = *new ov::Core;
  return core;
}

std::optional<std::string> device_of(const ov::Core& core, const board::Processor& processor) {
  if (processor.kind == ProcessorKind::cpu) return "CPU";
  for (const std::string& device : core.get_available_devices())
    if (kind_of(device) == processor.kind && processor_name(device) == processor.name)
      return device;
  return std::nullopt;
}

std::vector<ReachedDevice> reached_devices() {
  return guarded("the devices", [] {
    const ov::Core core = shared_core();
    std::vector<ReachedDevice> result;
    for (const std::string& device : core.get_available_devices())
      if (const auto kind = kind_of(device)) result.push_back(reached(core, device, *kind));
    return result;
  });
}

}  // namespace millrace::engine::openvino
