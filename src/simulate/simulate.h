#pragma once
// What a plan, or several at once, will do: a discrete-event simulation of what the runtime does,
// on any board.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/trace.h"
#include "base/units.h"
#include "plan/evidence.h"
#include "schedule/execution.h"
#include "simulate/latencies.h"

namespace millrace::simulate {

/// What a firing of a phase, on a whole batch, takes: drawn evenly between the two; equal: always
/// that.
struct Duration {
  Time best{}, worst{};
  bool operator==(const Duration&) const = default;
};

/// What a firing took, and on how many frames.
struct RecordedFiring {
  Time time{};
  std::int64_t frames = 1;
};
/// In their order; none is empty. See recorded.h.
using Recording = plan::ByPhase<std::vector<RecordedFiring>>;

enum class Arrivals {
  closed,    // the caller puts in a frame as soon as there is space
  periodic,  // a frame every period, up to `jitter` later, drawn evenly
  poisson,   // independent of each other, on the average one every period
};

/// Frames that find no space wait in front of the pipeline, in order and without limit.
struct Release {
  Arrivals arrivals = Arrivals::closed;
  Time period{}, jitter{};
  std::int64_t in_flight = 0;  // frames on their way at most; 0: all that fit
};

using schedule::Order;

/// A plan that runs, and how frames come to it.
struct Application {
  std::string name;
  plan::Plan plan;  // has passed check()
  plan::ByPhase<Duration> durations;
  plan::ByPhase<plan::BorderTimes> borders = {};  // of the durations, for the trace; empty: none
  /// Instead of the durations, if not empty: each firing takes what the next of its phase took,
  /// over and over, in proportion if it has another number of frames.
  Recording recorded = {};
  Release release = {};
  std::int64_t frames = 1000;  // to measure, at least
  Time deadline{};             // from a frame's release to its last result; 0: none
  int priority = 0;            // smaller is more urgent
  Order order = Order::submitted;
};

/// How a processor decides between stages, of one plan or several, that are ready.
enum class Policy {
  fifo_by_subnet,  // first come, first served; a phase runs to its end
  fifo_by_kernel,  // the same, but between two layers others have their turn; a phase's time is
                   // shared evenly among its layers
  preemptive,      // the most urgent application runs, at once; of equals the first
};

struct ProcessorOptions {
  Policy policy = Policy::fifo_by_subnet;
  double scale = 1;  // of all times: contention, another frequency
  double busy_mw = 0, idle_mw = 0;
};

struct Options {
  std::map<std::string, ProcessorOptions> processors = {};  // by name; `others` for the rest
  ProcessorOptions others = {};
  std::uint64_t seed = 1;
  std::int64_t traced_frames = 0;  // so many first frames of each application are in the trace
};

/// So many frames take exactly so long, again and again.
struct Steady {
  std::int64_t frames = 0;
  Time span{};
};

struct ApplicationResult {
  std::string name;
  std::int64_t frames = 0;  // measured
  Time elapsed{};
  Latencies latencies = {};  // from release to last result
  std::int64_t missed = 0;   // deadlines
  std::optional<std::int64_t> first_missed = {};
  /// Where a lone application in a closed loop repeats itself, from some frame on for ever.
  std::optional<Steady> steady = {};

  /// Frames per second; 0 if nothing took time.
  double throughput() const;
};

struct ProcessorResult {
  std::string name;
  Time busy{};
  double energy_mj = 0;
};

/// Measured from the end of a warm-up, in which the pipelines of closed loops fill, until every
/// application has had its frames. Where one is starved, or much slower than others, that ends when
/// all together have had 20 times their frames; it then has fewer.
struct Result {
  std::vector<ApplicationResult> applications;
  std::vector<ProcessorResult> processors;  // in the order of their first stage
  Time elapsed{};
  Trace trace;
};

/// InputError if an option or an application makes no sense, if two plans mean different cores by
/// one processor's name, or if times do not fit 64 bits. The same on every machine and for ever:
/// seeded.
Result run(const std::vector<Application>& applications, const Options& options = {});

/// Each phase takes its predicted time, times the two factors. InputError if one is unknown.
plan::ByPhase<Duration> predicted_durations(const plan::Plan& plan, const plan::Evidence& evidence,
                                            double best = 1, double worst = 1);

}  // namespace millrace::simulate
