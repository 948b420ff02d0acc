#pragma once
// What happened when: one type for simulated and for real runs.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/units.h"

namespace millrace {

/// A stage of one of the plans, on its processor. All times of a trace count from its begin.
struct TraceStage {
  std::size_t plan = 0;  // Trace::plans
  std::string name;      // "stage0"
  std::string processor;
  bool operator==(const TraceStage&) const = default;
};

/// A stage worked on `count` frames from `frame` on. A firing that others interrupted is there in
/// pieces, in order.
struct TraceFiring {
  std::size_t stage = 0;  // Trace::stages
  std::size_t phase = 0;
  std::int64_t frame = 0, count = 1;
  Time begin{}, end{};
  std::int64_t step = 1;  // from one of these frames to the next
  /// First and last parts of that time: tensors come from other processors and go there.
  Time in{}, out{};
  bool operator==(const TraceFiring&) const = default;
};

/// From when a frame was there, over when it went into the pipeline, to its last result.
struct TraceFrame {
  std::size_t plan = 0;
  std::int64_t frame = 0;
  Time released{}, submitted{}, completed{};
  bool operator==(const TraceFrame&) const = default;
};

/// A stage had no frame to work on, or no space for its results.
struct TraceWait {
  std::size_t stage = 0;  // Trace::stages
  Time begin{}, end{};
  bool operator==(const TraceWait&) const = default;
};

/// What clock a device had.
struct TraceClock {
  std::string device;  // "cpu0"
  Time at{};
  double mhz = 0;
  bool operator==(const TraceClock&) const = default;
};

struct Trace {
  std::vector<std::string> plans;
  std::vector<TraceStage> stages;
  std::vector<TraceFiring> firings;   // in the order in which they ended
  std::vector<TraceFrame> frames;     // in the order in which they were completed
  std::vector<TraceWait> waits = {};  // of real runs; by stage, in order
  std::vector<TraceClock> clocks = {};  // of real runs, where the system tells them; in order
  bool operator==(const Trace&) const = default;
};

/// The processors of the stages, each once, in the order of their first stage.
std::vector<std::string> processors_of(const Trace& trace);

/// As chrome://tracing and ui.perfetto.dev read it (JSON), piece by piece and atomically: a row for
/// each processor, each frame from its release to its result, and a counter for each clock. See
/// write_file for failures.
void write_chrome_trace(const std::filesystem::path& path, const Trace& trace);

/// What that wrote; events of others are passed over. InputError if the file is none such, or lacks
/// what its events need.
Trace read_chrome_trace(const std::filesystem::path& path);

}  // namespace millrace
