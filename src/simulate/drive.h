#pragma once
// What a deployment does on a drive through its scenarios, as the runtime's controller would play
// it: frames are released periodically, and a transition waits until those on their way are done.
#include <cstdint>
#include <string>
#include <vector>

#include "base/trace.h"
#include "deployment/script.h"
#include "simulate/latencies.h"

namespace millrace::simulate {

struct DriveOptions {
  deployment::Script script;
  Time duration{};     // frames are released so long
  bool drawn = false;  // tasks take between their best and worst times; else the worst
  std::uint64_t seed = 1;
  std::int64_t traced_frames = 0;  // of each group
};

/// Each frame that was due is released or skipped, and each that was released is done.
struct DriveFrames {
  std::int64_t due = 0, released = 0, done = 0;
  std::int64_t skipped = 0;    // by policy: the frames before it were on their way
  std::int64_t stretched = 0;  // of those released: later than they were due, by policy
  std::int64_t missed = 0;     // of those done: after their deadlines, less the overhead
};

/// A group in one scenario at one level.
struct DrivePart {
  deployment::Wanted at;
  DriveFrames frames;
  Time largest{};  // response
};

struct DriveGroup {
  std::string name;
  DriveFrames frames;
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

/// A transition lasts from the step of the script until all frames on their way are done.
struct DriveTransitions {
  std::int64_t wished = 0, done = 0;
  std::int64_t replaced = 0;       // by a later step, before they were done
  std::int64_t level_changes = 0;  // by the policy lower_rate
  Time longest{};
};

struct Drive {
  Time elapsed{};                          // the duration, or until the last frame was done
  std::vector<DriveGroup> groups;          // by GroupId
  std::vector<DriveProcessor> processors;  // those with tasks
  std::vector<DriveDevice> devices;
  DriveTransitions transitions;
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
