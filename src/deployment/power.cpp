#include "deployment/power.h"

#include <algorithm>

namespace millrace::deployment {
namespace {

board::Megahertz clock_of(const board::Device& device, const Clocks& clocks) {
  const auto found = clocks.find(device.name);
  if (found != clocks.end()) return found->second;
  return device.clocks.empty() ? device.power.back().clock : device.clocks.back();
}

/// On the line between the two power points beside the clock, or through the two nearest ones.
double at(const board::Device& device, board::Megahertz clock,
          board::Milliwatts board::PowerPoint::*part) {
  const auto& points = device.power;
  if (points.size() == 1) return (points[0].*part).value;
  auto high = std::ranges::lower_bound(points, clock, {}, &board::PowerPoint::clock);
  if (high == points.begin()) ++high;
  if (high == points.end()) --high;
  const auto low = high - 1;
  const double share = (clock.value - low->clock.value) / (high->clock.value - low->clock.value);
  const double from = (*low.*part).value, to = (*high.*part).value;
  return std::max(0.0, from + (to - from) * share);
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
  if (device.power.empty()) return 0;
  return at(device, clock_of(device, clocks), &board::PowerPoint::still);
}

double busy_mw(const board::Device& device, const Clocks& clocks, const Task& task) {
  if (device.power.empty()) return task.busy ? task.busy->value : 0;
  const double now = at(device, clock_of(device, clocks), &board::PowerPoint::busy);
  const double highest = at(device, clock_of(device, {}), &board::PowerPoint::busy);
  if (!task.busy) return now;
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
