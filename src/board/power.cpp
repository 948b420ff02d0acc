#include "board/power.h"

#include <algorithm>
#include <cmath>

namespace millrace::board {
namespace {

Milliwatts interpolated(const std::vector<PowerPoint>& points, Milliwatts PowerPoint::*value,
                        Megahertz clock) {
  if (points.empty()) return {};
  const auto above = std::ranges::lower_bound(points, clock, {}, &PowerPoint::clock);
  if (above == points.end()) return points.back().*value;
  if (above == points.begin() || above->clock == clock) return (*above).*value;
  const PowerPoint &low = *(above - 1), &high = *above;
  const double part = (clock.value - low.clock.value) / (high.clock.value - low.clock.value);
  return {std::lerp((low.*value).value, (high.*value).value, part)};
}

/// Of several boards, the one that has the device. Names of others begin with it, "second.core0".
std::string board_of(const Board& board, const Device& device) {
  const auto is_elsewhere = [](const Device& each) {
    return !each.space.empty() && each.name.starts_with(each.space + ".");
  };
  if (is_elsewhere(device)) return device.space;
  return std::ranges::any_of(board.devices, is_elsewhere) ? board_here : "";
}

}  // namespace

Milliwatts static_power(const Device& device, Megahertz clock) {
  return interpolated(device.power, &PowerPoint::still, clock);
}

Milliwatts dynamic_power(const Device& device, Megahertz clock) {
  return interpolated(device.power, &PowerPoint::busy, clock);
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

std::vector<DeviceEnergy> energy_per_frame(const Board& board,
                                           const std::vector<BusyProcessor>& processors,
                                           double interval_s) {
  std::vector<DeviceEnergy> energies;
  for (const Device& device : board.devices) {
    if (device.power.empty()) continue;
    const Megahertz clock = highest_clock(device);
    const auto count = static_cast<double>(processors_of(device).size());
    DeviceEnergy energy{device.name, static_power(device, clock).value * count * interval_s, 0,
                        board_of(board, device)};
    for (const BusyProcessor& each : processors) {
      if (device_of(board, each.processor) != &device) continue;
      const auto cores = std::max<std::size_t>(each.processor.cores.size(), 1);
      energy.busy_mj +=
          dynamic_power(device, clock).value * static_cast<double>(cores) * each.busy_s;
    }
    energies.push_back(energy);
  }
  if (!energies.empty() && board.idle_power)
    energies.push_back(
        {"all else", board.idle_power->value * interval_s, 0, board_of(board, Device{})});
  return energies;
}

std::vector<DeviceEnergy> energy_by_board(const std::vector<DeviceEnergy>& energies) {
  std::vector<DeviceEnergy> boards;
  for (const DeviceEnergy& each : energies) {
    if (each.board.empty()) continue;
    auto found = std::ranges::find(boards, each.board, &DeviceEnergy::device);
    if (found == boards.end()) found = boards.insert(found, {each.board, 0, 0, each.board});
    found->still_mj += each.still_mj;
    found->busy_mj += each.busy_mj;
  }
  return boards;
}

DeviceEnergy largest_energy(const std::vector<DeviceEnergy>& energies) {
  std::vector<DeviceEnergy> boards = energy_by_board(energies);
  if (!boards.empty()) return *std::ranges::max_element(boards, {}, &DeviceEnergy::together_mj);
  DeviceEnergy all{"the board"};
  for (const DeviceEnergy& each : energies) {
    all.still_mj += each.still_mj;
    all.busy_mj += each.busy_mj;
  }
  return all;
}

}  // namespace millrace::board
