#include "board/power.h"

#include <algorithm>

namespace millrace::board {
namespace {

PowerLine fitted(const std::vector<PowerPoint>& points, Milliwatts PowerPoint::*value) {
  if (points.empty()) return {};
  const auto count = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0, varies = 0, covaries = 0;
  for (const PowerPoint& point : points) {
    mean_x += point.clock.value / count;
    mean_y += (point.*value).value / count;
  }
  for (const PowerPoint& point : points) {
    varies += (point.clock.value - mean_x) * (point.clock.value - mean_x);
    covaries += (point.clock.value - mean_x) * ((point.*value).value - mean_y);
  }
  const double slope = varies > 0 ? covaries / varies : 0;
  return {mean_y - slope * mean_x, slope, points.front().clock, points.back().clock};
}

}  // namespace

Milliwatts PowerLine::at(Megahertz clock) const {
  return {std::max(0.0, base + slope * std::clamp(clock.value, first.value, last.value))};
}

PowerLines power_lines(const Device& device) {
  return {fitted(device.power, &PowerPoint::still), fitted(device.power, &PowerPoint::busy)};
}

Milliwatts static_power(const Device& device, Megahertz clock) {
  return power_lines(device).still.at(clock);
}

Milliwatts dynamic_power(const Device& device, Megahertz clock) {
  return power_lines(device).busy.at(clock);
}

Megahertz highest_clock(const Device& device) {
  if (!device.clocks.empty()) return device.clocks.back();
  return device.power.empty() ? Megahertz{} : device.power.back().clock;
}

Board with_assumed_power(Board board, bool& is_assumed) {
  is_assumed = false;
  for (Device& device : board.devices) {
    if (!device.power.empty()) continue;
    is_assumed = true;
    device.power.push_back({highest_clock(device), {}, assumed_power, {}});
  }
  return board;
}

double dynamic_energy(const Device& device, Megahertz clock, Time busy_at_highest) {
  const double slower = clock.value > 0 ? highest_clock(device).value / clock.value : 1;
  return dynamic_power(device, clock).value * seconds(busy_at_highest) * slower * 1e3;
}

double static_energy(const Device& device, Megahertz clock, Time period) {
  return static_power(device, clock).value * seconds(period) * 1e3;
}

std::vector<DeviceEnergy> energy_per_frame(const Board& board,
                                           const std::vector<BusyProcessor>& processors,
                                           double interval_s) {
  std::vector<DeviceEnergy> energies;
  for (const Device& device : board.devices) {
    if (device.power.empty()) continue;
    const Megahertz clock = highest_clock(device);
    const auto count = static_cast<double>(processors_of(device).size());
    DeviceEnergy energy{device.name, static_power(device, clock).value * count * interval_s, 0};
    for (const BusyProcessor& each : processors) {
      if (device_of(board, each.processor) != &device) continue;
      const auto cores = std::max<std::size_t>(each.processor.cores.size(), 1);
      energy.busy_mj +=
          dynamic_power(device, clock).value * static_cast<double>(cores) * each.busy_s;
    }
    energies.push_back(energy);
  }
  if (!energies.empty() && board.idle_power)
    energies.push_back({"all else", board.idle_power->value * interval_s, 0});
  return energies;
}

}  // namespace millrace::board
