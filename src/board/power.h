#pragma once
// What a processor draws at a clock: the power points of its device, and straight lines between
// neighbouring ones. J. Kim's thesis (section 4.4.2.3) fits a curve to measurements instead; points
// of a board file are taken as they are.
#include <string>
#include <vector>

#include "board/board.h"
#include "board/device.h"

namespace millrace::board {

/// At a power point it is that of the point. Below the first and above the last point it is that of
/// the nearest one: a line goes on to nothing, and work at low clocks would cost no energy. 0 if
/// the board says nothing.
Milliwatts static_power(const Device& device, Megahertz clock);
Milliwatts dynamic_power(const Device& device, Megahertz clock);

/// Its highest clock; that of its power point if it has no list of clocks; 0 if it has neither.
Megahertz highest_clock(const Device& device);

/// A processor of a device of which nothing is known draws so much while it works, and nothing
/// else, at every clock.
inline constexpr Milliwatts assumed_power{1000};
/// The board with power for every device; `is_assumed`: some had none.
Board with_assumed_power(Board board, bool& is_assumed);

/// In microjoules. What tasks draw: they are busy for so long at the highest clock, and longer at a
/// lower one, in proportion.
double dynamic_energy(const Device& device, Megahertz clock, Time busy_at_highest);

/// A processor that works for so long on each frame.
struct BusyProcessor {
  Processor processor;
  double busy_s = 0;
};

/// What a device draws for a frame.
struct DeviceEnergy {
  std::string device;
  double still_mj = 0;     // of all its processors, whether they work or not
  double busy_mj = 0;      // what is added while they work
  std::string board = {};  // of several, whose it is; empty: there is one
  double together_mj() const { return still_mj + busy_mj; }
  bool operator==(const DeviceEnergy&) const = default;
};

/// Energy of each device whose power the board knows, at its highest clock, and of all that is no
/// processor, if the board knows that; empty: it knows nothing. `interval_s`: between two frames.
std::vector<DeviceEnergy> energy_per_frame(const Board& board,
                                           const std::vector<BusyProcessor>& processors,
                                           double interval_s);

/// Where the program runs, among several boards: it has no name in their file.
inline constexpr const char* board_here = "here";

/// The same by board, in place of the device; empty: there is one board only.
std::vector<DeviceEnergy> energy_by_board(const std::vector<DeviceEnergy>& energies);
/// The board that draws most; of one board, all of it. Precondition: something is known.
DeviceEnergy largest_energy(const std::vector<DeviceEnergy>& energies);

}  // namespace millrace::board
