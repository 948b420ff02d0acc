#pragma once
// What a processor draws at a clock: straight lines through the power points of its device, by
// least squares, as section 4.4.2.3 of J. Kim's thesis has them.
#include <string>
#include <vector>

#include "board/board.h"
#include "board/device.h"

namespace millrace::board {

/// Milliwatts at a clock of x MHz: base + slope * x, between the first and the last power point.
struct PowerLine {
  double base = 0, slope = 0;
  Megahertz first{}, last{};  // of the power points
  /// Never below 0. Outside the points that of the nearest one: a line goes on to nothing, and work
  /// at low clocks would cost no energy.
  Milliwatts at(Megahertz clock) const;
  bool operator==(const PowerLine&) const = default;
};

/// While nothing runs, and what is added while it works; of one processor.
struct PowerLines {
  PowerLine still, busy;
  bool operator==(const PowerLines&) const = default;
};

/// Lines of 0 if the board says nothing, of the one value if it has one point.
PowerLines power_lines(const Device& device);

Milliwatts static_power(const Device& device, Megahertz clock);
Milliwatts dynamic_power(const Device& device, Megahertz clock);

/// That of its power point if it has no list of clocks; 0 if it has neither.
Megahertz highest_clock(const Device& device);

/// A processor of a device of which nothing is known draws so much while it works, and nothing
/// else, at every clock.
inline constexpr Milliwatts assumed_power{1000};
/// The board with power for every device; `is_assumed`: some had none.
Board with_assumed_power(Board board, bool& is_assumed);

/// In microjoules. What tasks draw: they are busy for so long at the highest clock, and longer at a
/// lower one, in proportion.
double dynamic_energy(const Device& device, Megahertz clock, Time busy_at_highest);
/// In microjoules: of one processor, whatever it does.
double static_energy(const Device& device, Megahertz clock, Time period);

/// A processor that works for so long on each frame.
struct BusyProcessor {
  Processor processor;
  double busy_s = 0;
};

/// What a device draws for a frame.
struct DeviceEnergy {
  std::string device;
  double still_mj = 0;  // of all its processors, whether they work or not
  double busy_mj = 0;   // what is added while they work
  double together_mj() const { return still_mj + busy_mj; }
  bool operator==(const DeviceEnergy&) const = default;
};

/// Of each device of which the board knows the power, at its highest clock, and of all that is no
/// processor, if the board knows that; empty: it knows nothing. `interval_s`: between two frames.
std::vector<DeviceEnergy> energy_per_frame(const Board& board,
                                           const std::vector<BusyProcessor>& processors,
                                           double interval_s);

}  // namespace millrace::board
