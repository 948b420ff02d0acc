#pragma once
// What a deployment does on a drive through its scenarios. schedule::ReleaseMachine decides its
// releases, as those of the runtime.
#include <cstdint>
#include <string>
#include <vector>

#include "base/trace.h"
#include "deployment/script.h"
#include "schedule/release_machine.h"
#include "simulate/latencies.h"

namespace millrace::simulate {

struct DriveOptions {
  deployment::Script script;
  Time duration{};     // frames are released so long
  bool drawn = false;  // tasks take between their best and worst times; else the worst
  std::uint64_t seed = 1;  // also of when frames come
  std::int64_t traced_frames = 0;  // of each group
  std::vector<std::vector<Time>> recorded = {};  // see schedule::ReleaseOptions
};

/// A group in one scenario at one level.
struct DrivePart {
  deployment::Wanted at;
  schedule::FrameCounts frames;
  Time largest{};  // response
};

struct DriveGroup {
  std::string name;
  schedule::FrameCounts frames;  // deadlines are less the overhead
  Latencies responses;           // from when a frame was due to the end of its last task
  std::vector<DrivePart> parts;  // where a frame was due
};

struct DriveProcessor {
  std::string name;
  Time busy{};
};

/// Only devices of which the board knows the power.
struct DriveDevice {
  std::string name;
  double still_mj = 0, busy_mj = 0;
};

struct Drive {
  Time elapsed{};                          // the duration, or until the last frame was done
  std::vector<DriveGroup> groups;          // by GroupId
  std::vector<DriveProcessor> processors;  // those with tasks
  std::vector<DriveDevice> devices;
  schedule::TransitionCounts transitions;
  Trace trace;
};

/// The same on every machine. InputError as deployment::task_system(), or if the script is empty.
Drive drive(const deployment::Deployment& deployment, const board::Board& board,
            const DriveOptions& options);

/// With what was asked.
struct SimulatedDrive {
  std::string file, script;  // script: a file; empty: random
  deployment::Deployment deployment;
  DriveOptions options;
  Drive drive;

  bool has_misses() const;
};

}  // namespace millrace::simulate
