#pragma once
// Several programs on one device at the same time, and one program on several streams of frames.
#include <span>
#include <vector>

#include "workload/simulate.h"

namespace millrace::workload {

/// A network on one or more streams. These take turns in each workload, so that they share the
/// scratchpad and the constants that stay in it.
struct NetworkStreams {
  const Program* program = nullptr;
  std::int64_t streams = 1;
};

struct StreamCycles {
  std::int64_t cycles = 0;  // until the last of its streams has its output
  std::int64_t moved = 0;   // bytes of transfers to and from the first memory
  std::int64_t shared = 0;  // bytes of constants that other streams had already loaded
  bool operator==(const StreamCycles&) const = default;
};

/// All networks begin together; a unit does one thing at a time, for whoever asked first. Each
/// program's scratchpad is a part of the device's. Precondition: no static violations.
std::vector<StreamCycles> simulate_streams(std::span<const NetworkStreams> networks,
                                           const CycleCosts& costs);

/// Networks that run on one device at the same time.
struct SimulatedStreams {
  DeviceTarget target;
  std::vector<NetworkStreams> networks;
  std::vector<StreamCycles> alone, together;  // by network
};

}  // namespace millrace::workload
