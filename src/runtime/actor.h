#pragma once
// What a stage's thread does: its phases in order, cycle after cycle.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"
#include "engine/engine.h"
#include "runtime/first_error.h"
#include "runtime/latest.h"
#include "runtime/link.h"
#include "runtime/ports.h"
#include "runtime/preparation.h"
#include "runtime/shared.h"
#include "runtime/waiting/gate.h"
#include "schedule/firing.h"

namespace millrace::runtime {

using Clock = std::chrono::steady_clock;

/// When something happened to each of the frames that are on their way. Guarded by the channel
/// beside it, as a slot is.
class TimeStamps {
 public:
  explicit TimeStamps(std::int64_t capacity) : stamps_(static_cast<std::size_t>(capacity)) {}
  Clock::time_point& of(std::int64_t frame) {
    return stamps_[static_cast<std::size_t>(frame) % stamps_.size()];
  }

 private:
  std::vector<Clock::time_point> stamps_;
};

/// A prepared phase between its channels. All pointers are borrowed from the pipeline.
struct PhaseTask {
  std::int64_t batch = 1;  // as in the plan
  PreparedPhase prepared;
  Ports inputs, outputs;
  std::vector<Link> incoming = {}, outgoing = {};
  std::vector<TimeStamps*> results = {};  // where to note when an output for the caller was ready
};

/// What a stage did so far. Written by its thread alone after each firing, read by any as it was
/// between two firings.
class alignas(cache_line) Activity {
 public:
  struct Totals {
    std::int64_t frames = 0;
    Time busy{}, waiting{};
  };
  void add(std::int64_t frames, Time busy, Time waiting);
  Totals totals() const;

 private:
  std::atomic<std::uint32_t> writes_{0};  // odd: one is under way
  std::atomic<std::int64_t> frames_{0}, busy_{0}, waiting_{0};
};

/// How long a phase was on its core. Written by its stage's thread alone; each number is whole by
/// itself, and no memory depends on it.
struct PhaseTimes {
  std::atomic<std::int64_t> runs{0}, sum_ns{0}, largest_ns{0};
  void add(Time time);
};

/// The frames of the first firing in which the processor was asked for what is not a number, such
/// as the root of -1 or the maximum of NaN and 0. Written once, by its stage's thread.
class InvalidFrames {
 public:
  void set(std::int64_t first, std::int64_t last) {
    last_.store(last, std::memory_order_relaxed);
    first_.store(first, std::memory_order_release);
  }
  bool are_set() const { return first_.load(std::memory_order_acquire) >= 0; }
  /// If they are set.
  bool include(std::int64_t frame) const {
    return are_set() && frame >= first_.load(std::memory_order_relaxed) &&
           frame <= last_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> first_{-1}, last_{-1};  // first_ last
};

/// A firing, after its stage had waited since `waited_from`.
struct TimedFiring {
  schedule::Firing firing;
  Clock::time_point waited_from, started, ended;
};

/// A stage with all it needs to run.
struct StageTask {
  explicit StageTask(const schedule::Actor& actor)
      : name(actor.name),
        processor(actor.processor),
        lane(actor.lane),
        replicas(actor.frames.step),
        order(actor) {}

  std::string name;
  board::Processor processor;
  std::string lane;
  std::int64_t replicas;       // itself included
  schedule::PhaseOrder order;  // touched by the stage's thread alone
  // For stages that take any frames.
  Shared* shared = nullptr;                             // borrowed from the pipeline
  std::optional<schedule::ClaimedFrames> claimed = {};  // those that it has

  bool pin = true;
  int priority = 0;                    // of SCHED_FIFO; 0: an ordinary thread
  std::vector<PhaseTimes> core_times;  // by phase; none: not taken
  std::int64_t preemptions = 0;        // when its thread has ended
  InvalidFrames invalid_frames;
  engine::Memory memory;
  std::vector<PhaseTask> phases;   // in the order of the plan
  Time spin{};                     // before it sleeps
  Time spin_for_stages{};          // the same while a frame is on its way
  Gate gate;                       // it passes before each phase
  EventCount event_count;          // of all channels of its phases, on the stage's side
  Counter submitted{event_count};  // frames that the caller has put in; raised by the caller
  Activity activity;

  WatchedLatest<TimedFiring> firings;  // for a trace
};

/// Runs on the calling thread, each phase until one of its channels ends, by the firing rule of
/// schedule::PhaseOrder, or of schedule::ClaimedFrames where replicas take any frames. Then,
/// whatever the reason, finishes the outgoing channels. An exception becomes a failure, "STAGE on
/// PROCESSOR: ...", and is given to `fail`, before that.
void run_stage(StageTask& stage, const std::function<void(const Failure&)>& fail);

}  // namespace millrace::runtime
