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
  return {mean_y - slope * mean_x, slope};
}

}  // namespace

Milliwatts PowerLine::at(Megahertz clock) const {
  return {std::max(0.0, base + slope * clock.value)};
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

}  // namespace millrace::board
