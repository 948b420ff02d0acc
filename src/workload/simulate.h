#pragma once
// When each link runs, in cycles of the processor: what Figure 5 of the paper draws.
#include "base/trace.h"
#include "board/board.h"
#include "workload/tiling.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What a run of a link takes: `setup` and then its bytes, or its arithmetic, in whole cycles.
struct CycleCosts {
  std::int64_t setup = 0;
  double bytes_per_cycle = 1;   // of a transfer over a way that is not among `ways`
  double macs_per_cycle = 1;    // of what multiplies
  double values_per_cycle = 1;  // of the rest, by element of the output and of its window
  /// Bytes per cycle over the way between a memory and the one before it, from that of the second
  /// memory on. A transfer over several takes as long as over the slowest.
  std::vector<double> ways = {};
};

struct LinkRun {
  std::size_t link = 0;
  std::int64_t step = 0, begin = 0, end = 0;  // cycles
  bool operator==(const LinkRun&) const = default;
};

struct SimulatedWorkload {
  std::int64_t cycles = 0;
  std::int64_t transfers = 0, computing = 0;  // of all runs together
  std::vector<LinkRun> runs;                  // by begin; empty if they were not asked for
};

/// A step begins when the one before has ended. Overlapped: units work at the same time, each on
/// its links in the listed order; else all links one after the other.
SimulatedWorkload simulate(const Workload& workload, const CycleCosts& costs,
                           bool with_runs = true);

/// As a trace: a row for each link, cycles as nanoseconds; a frame is a run.
Trace trace_of(const Workload& workload, const SimulatedWorkload& simulated);

/// A device of a board with a memory of its own, as the compiler and the simulator need it.
struct DeviceTarget {
  TileTarget target;
  CycleCosts costs;
  double megahertz = 0;
  std::string device, memory;
};
/// A simulated program.
struct SimulatedProgram {
  DeviceTarget target;
  std::vector<SimulatedWorkload> workloads;  // by workload of the program
};

/// The device with this name; empty: the first with a memory of its own that lies behind another.
/// Scratchpad: that memory. Between it and the main memory are those that it lies behind. The
/// processors of the device have equal parts of each. A way is as fast as the board says of the
/// memory that is filled over it, else as the device's. InputError if the device has no such
/// memory, or its rates are unknown.
DeviceTarget device_target(const board::Board& board, const std::string& device);

/// The costs for a program with fewer memories than the device: its last one is the scratchpad, and
/// what is moved to it goes over all ways that no memory of the program ends.
/// InputError if the program has more memories.
CycleCosts costs_for(const Program& program, const CycleCosts& costs);

}  // namespace millrace::workload
