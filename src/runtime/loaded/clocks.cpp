#include "runtime/loaded/clocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::runtime {

std::vector<board::Device> devices_to_watch(const Loaded& loaded) {
  std::vector<board::Device> devices = loaded.board.devices;
  std::erase_if(devices, [&](const board::Device& device) {
    return std::ranges::none_of(loaded.plan.stages, [&](const plan::Stage& stage) {
      return !plan::is_simulated(stage) &&
             std::ranges::any_of(stage.processors, [&](const board::Processor& processor) {
               const board::Device* const found = board::device_of(loaded.board, processor);
               return !processor.cores.empty() && found != nullptr && found->name == device.name;
             });
    });
  });
  return devices;
}

std::map<std::string, double> highest_clocks(const ClockRecord& clocks) {
  std::map<std::string, double> result;
  for (const WatchedDevice& device : clocks.devices)
    if (device.most.value > 0) result[device.name] = device.most.value;
  return result;
}

std::vector<std::string> low_clocks(const ClockRecord& clocks,
                                    const std::map<std::string, double>& measured_at_mhz) {
  constexpr double clearly = 0.9;  // less is what turbo clocks do by themselves
  std::vector<std::string> texts;
  for (const WatchedDevice& device : clocks.devices) {
    const auto known = measured_at_mhz.find(device.name);
    const double expected = known != measured_at_mhz.end() ? known->second : device.highest.value;
    if (device.mean.value <= 0 || device.mean.value >= clearly * expected) continue;
    texts.push_back(fmt::format(
        "{} ran at a mean of {:.2f} of {:.2f} GHz, {}; {}", device.name, device.mean.value / 1e3,
        expected / 1e3,
        known != measured_at_mhz.end() ? "at which the plan was measured" : "its highest clock",
        device.is_limited ? "it was too hot: cool the board"
                          : "docs/your-board.md says how to keep the clock constant"));
  }
  return texts;
}

void add_clocks(const ClockRecord& clocks, std::chrono::steady_clock::time_point begin,
                Trace& trace) {
  for (const ClockSample& sample : clocks.samples)
    trace.clocks.push_back({clocks.devices[sample.device].name, Time(sample.at - begin),
                            sample.clock.value});
}

}  // namespace millrace::runtime
