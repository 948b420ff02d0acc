#pragma once
// Programs of tiles, simulated on a board's device: one alone, or several beside each other.
#include <cstdint>
#include <string>
#include <vector>

#include "workload/simulate.h"
#include "workload/streams.h"
#include "workload/workload.h"

namespace millrace::workload {

struct SimulatedTiles {
  Program program;
  SimulatedProgram report;
};

/// The program in the file, cycle by cycle. InputError if it may not run.
SimulatedTiles simulate_tiles(const std::string& file, const std::string& board);

struct StreamsRequest {
  std::vector<std::string> files;     // a program for each network
  std::vector<std::int64_t> streams;  // of frames, by network; those without one have one
  std::string board;
};

struct SimulatedNetworks {
  std::vector<Program> programs;  // that the report points to
  SimulatedStreams report;
};

/// Each network alone, and all at once. InputError if a program may not run, and if their
/// scratchpads together are larger than the board's.
SimulatedNetworks simulate_streams(const StreamsRequest& request);

}  // namespace millrace::workload
