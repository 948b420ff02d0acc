#pragma once
// Runs a plan: one pinned thread per stage, bounded channels between them.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/trace.h"
#include "base/units.h"
#include "engine/engine.h"
#include "network/network.h"
#include "plan/plan.h"

namespace millrace::runtime {

/// One result, in the order of submission.
struct Result {
  std::int64_t frame = 0;
  std::vector<network::Array> outputs;  // in the order of network.outputs
  Time latency{};  // from the end of submit() to its last output and those of the frames before it,
                   // without pauses
};

/// What a stage did since start().
struct StageStatistics {
  std::string name;
  std::int64_t frames = 0;
  Time busy{};     // running phases
  Time waiting{};  // for inputs or for space
  engine::Memory memory;
  std::int64_t replicas = 1;  // that take turns with it, itself included
  std::string processor = {};
};

struct SessionOptions {
  bool pin = true;                     // bind each thread to its processor's cores
  std::chrono::microseconds spin{50};  // of a stage that waits for the caller, before it sleeps
  // The same of a pinned stage that waits for other stages, for a frame that is on its way. Where a
  // core that sleeps loses its clock and its caches, waking costs more than the wait: see
  // decision 20. Without `pin` other stages may need the core.
  std::chrono::microseconds spin_for_stages{10'000};
  // The same for submit() and next(). They usually share a core with a stage, whose time a spinning
  // caller would take.
  std::chrono::microseconds caller_spin{0};
  // What happened to so many last frames, and to those on their way, is kept for trace(): 48 bytes
  // for each phase of a frame. 0: nothing is.
  std::int64_t trace_frames = 0;
  // The stages' threads get these priorities of SCHED_FIFO, 1 to 99, by stage of the plan; one: all
  // get it; none: ordinary threads. With priorities no thread spins, since a core is shared.
  std::vector<int> priorities = {};
  // Ends submit() and next() where they wait, with EngineError; the session goes on. Borrowed;
  // null: nobody does.
  Interrupt* interrupt = nullptr;
  // Told once if the system refuses the priorities; the threads are ordinary ones then.
  std::function<void(const std::string&)> note = {};
  // Each phase's time on its core is taken, without what others took; on other devices, its
  // duration. See times_of_phases().
  bool core_times = false;
};

/// The times of a phase on its core.
struct CoreTimes {
  std::int64_t runs = 0;
  Time sum{}, largest{};
};

/// So many frames ...
struct FrameCounts {
  std::int64_t depth = 0;           // are taken by submit() without waiting for a call of next()
  std::int64_t largest_offset = 0;  // are on their way when no stage waits: of the plan's phases
  std::int64_t round = 0;           // may leave at once: the largest batch of the plan
};

/// Drawn in docs/methods/runtime.md.
enum class Life { running, draining, stopped, failed };

/// The writing side (submit, finish) and the reading side (next) may be used by two
/// threads, one each, or by one in turn; the rest by any thread.
class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Stops without draining.
  ~Session();

  /// Puts the inputs (in the order of network.inputs, dense) into the pipeline; waits while it is
  /// full. Their memory is not copied but shared, until another frame takes the place of this one.
  /// False: the session has ended or was stopped meanwhile, and the frame is dropped. InputError if
  /// shapes or types do not fit; rethrows the first error of a stage.
  bool submit(std::span<const network::Array> inputs);
  /// The same, but waits no longer than until next() has a result; false then. So one thread can
  /// submit and take results in turn and keep the pipeline full. Not beside another thread.
  bool submit_unless_result(std::span<const network::Array> inputs);

  /// Fills the memory the inputs are read from, dense, in the order of network.inputs.
  using Fill = std::function<void(std::span<const std::span<std::byte>>)>;
  /// submit() of what is not in an array. What `fill` throws is passed on, and no frame was
  /// submitted.
  bool submit_in_place(const Fill& fill);

  /// The next result in order of submission, in memory of its own; waits for it. Nothing after
  /// finish() when all results have been taken, or after stop(). Rethrows the first error of a
  /// stage with the stage's name: InputError if a layer refused a frame's values, else EngineError.
  std::optional<Result> next();
  /// Reads a result where it lies, dense, in the order of network.outputs.
  using Use = std::function<void(std::span<const std::span<const std::byte>>)>;
  /// next() without memory of its own: `use` sees the result, and then its place is free. False
  /// where next() has nothing. What `use` throws is passed on; the result is not taken then.
  bool next_in_place(const Use& use);
  /// No more frames will come; those on their way still arrive.
  void finish();
  /// Ends all threads as soon as their current phase is done, and waits for that; frames on their
  /// way are dropped. Resumes.
  void stop();

  /// Returns when no stage works, and none begins to before resume(): frames on their way stay
  /// where they are. Any thread, but one at a time.
  void pause();
  void resume();

  Life life() const;
  FrameCounts frame_counts() const;
  std::vector<StageStatistics> statistics() const;
  /// By stage and replica, in the order of statistics(), then by phase; see SessionOptions.
  std::vector<std::vector<CoreTimes>> times_of_phases() const;
  /// They begin anew. While no frame is on its way.
  void forget_times();
  /// How often the stages' threads lost their cores against their will. After stop().
  std::int64_t preemptions() const;
  /// Whether this frame, whose result was taken, is the first one in which some stage computed what
  /// is not a number (NaN), though it may have become one again: or a stage's kernels only seem to.
  bool may_have_made_nan(std::int64_t frame) const;
  /// The same for any frame so far. Any thread may ask.
  bool may_have_made_nan() const;
  /// Whether the stages' threads have the priorities that were asked for.
  bool has_priorities() const;
  /// Calls stop(); then what the stages did with the last frames that were taken by next(), and
  /// with those on their way; only what is behind the last pause. Empty without
  /// SessionOptions::trace_frames. Its times count from `begin`, or from its first event. Not while
  /// another thread submits or takes results.
  Trace trace(std::optional<std::chrono::steady_clock::time_point> begin = {});
  /// What the stages did in the last `span`, while they work; without frames and waits. Empty
  /// without SessionOptions::trace_frames. Any thread.
  Trace recent(Time span) const;

 private:
  friend Session deploy(const plan::Plan&, const network::Network&,
                        const std::map<std::string, engine::Engine*>&, const SessionOptions&);
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Prepares every phase on its stage's processor, allocates the slots, starts the threads.
/// `engines` by the names used in the plan; they and the network must outlive the session.
/// InputError if plan and network do not belong together or, with `pin`, a processor is not on
/// this machine; EngineError if an engine, a thread or memory fails.
Session deploy(const plan::Plan& plan, const network::Network& network,
               const std::map<std::string, engine::Engine*>& engines,
               const SessionOptions& options = {});

}  // namespace millrace::runtime
