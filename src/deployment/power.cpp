#include "deployment/power.h"

#include <algorithm>

#include "board/power.h"

namespace millrace::deployment {
namespace {

board::Megahertz clock_of(const board::Device& device, const Clocks& clocks) {
  const auto found = clocks.find(device.name);
  if (found != clocks.end()) return found->second;
  return board::highest_clock(device);
}

/// On average, of a group's frames.
double busy_mw_of(const Assignment& assignment, const board::Device& device, const Clocks& clocks,
                  Time period) {
  const std::vector<board::Processor> processors = processors_of(device);
  double sum = 0;
  for (const Task& task : assignment.tasks) {
    if (std::ranges::find(processors, task.processor, &board::Processor::name) == processors.end())
      continue;
    const double share = seconds(task.average) * slowdown(device, clocks) / seconds(period);
    sum += share * busy_mw(device, clocks, task);
  }
  return sum;
}

}  // namespace

double still_mw(const board::Device& device, const Clocks& clocks) {
  return board::static_power(device, clock_of(device, clocks)).value;
}

double busy_mw(const board::Device& device, const Clocks& clocks, const Task& task) {
  const double now = board::dynamic_power(device, clock_of(device, clocks)).value;
  if (!task.busy) return now;
  const double highest = board::dynamic_power(device, board::highest_clock(device)).value;
  return highest > 0 ? task.busy->value * now / highest : task.busy->value;
}

std::vector<DevicePower> expected_power(const Deployment& deployment, const board::Board& board,
                                        const Operation& operation) {
  std::vector<DevicePower> result;
  const system::System& system = deployment.system;
  for (const board::Device& device : board.devices) {
    if (device.power.empty()) continue;
    DevicePower power{.device = device.name};
    power.still_mw =
        still_mw(device, operation.clocks) * static_cast<double>(processors_of(device).size());
    for (const system::GroupId group : system[operation.scenario].groups)
      power.busy_mw += busy_mw_of(deployment.assignments.at(group.index), device, operation.clocks,
                                  period_of(system, group, operation.level));
    result.push_back(std::move(power));
  }
  return result;
}

}  // namespace millrace::deployment
