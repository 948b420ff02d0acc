#include "engine/plugin/devices.h"

#include <fmt/format.h>

namespace millrace::engine::plugin {

board::ProcessorKind kind_of(const PluginDevice& device) {
  if (device.kind == millrace_gpu) return board::ProcessorKind::gpu;
  return device.kind == millrace_npu ? board::ProcessorKind::npu : board::ProcessorKind::cpu;
}

std::vector<board::Precision> precisions_of(const PluginDevice& device) {
  using enum board::Precision;
  std::vector<board::Precision> result;
  for (const board::Precision precision : {f32, f16, bf16, int8})
    if ((device.precisions & (1U << static_cast<unsigned>(precision))) != 0)
      result.push_back(precision);
  return result;
}

board::Granularity granularity_of(const PluginDevice& device) {
  return device.times_layers ? board::Granularity::layer : board::Granularity::subnet;
}

std::vector<ReachedDevice> reached_by(const Instance& instance) {
  std::vector<ReachedDevice> result;
  for (const PluginDevice& device : instance.devices()) {
    if (device.is_absent || device.kind == millrace_cores) continue;
    ReachedDevice& reached = result.emplace_back();
    reached.engine = instance.library().name;
    reached.driver = device.driver.empty()
                         ? fmt::format("{} {}", instance.library().name, instance.sdk())
                         : device.driver;
    reached.device.name = device.name;
    reached.device.model = device.model;
    reached.device.kind = kind_of(device);
    reached.device.processors = {device.name};
    reached.device.scheduling = board::usual_scheduling(reached.device.kind);
    reached.device.space = device.own_space();
    if (!reached.device.space.empty()) reached.device.costs.copy_engines = device.copies ? 2 : 0;
    if (tells_memory(instance.table()))
      reached.board_memory = {
          static_cast<std::int64_t>(instance.table().memory(instance.handle(), device.index))};
    reached.device.limits.granularity = granularity_of(device);
    reached.device.limits.precisions = precisions_of(device);
  }
  return result;
}

}  // namespace millrace::engine::plugin
