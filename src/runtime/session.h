#pragma once
// Runs a plan: one pinned thread per stage, bounded channels between them.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/engine.h"
#include "network/network.h"
#include "plan/plan.h"

namespace millrace::runtime {

/// One result, in the order of submission.
struct Result {
  std::int64_t frame = 0;
  std::vector<network::Array> outputs;  // in the order of network.outputs
  Time latency{};                       // from the end of submit() to the last output
};

/// What a stage did since start().
struct StageStatistics {
  std::string name;
  std::int64_t frames = 0;
  Time busy{};     // running phases
  Time waiting{};  // for inputs or for space
  engine::Memory memory;
};

struct SessionOptions {
  bool pin = true;                        // bind each thread to its processor's cores
  std::chrono::microseconds spin{50};     // before a wait sleeps
};

/// The life cycle is drawn in docs/runtime.md: running, draining, stopped, failed.
/// submit() and next() may be called from two different threads, each by one thread only.
class Session {
 public:
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  /// Stops without draining.
  ~Session();

  /// Copies the inputs (in the order of network.inputs, dense) into the pipeline; waits while it is
  /// full. InputError if shapes or types do not fit; rethrows the first error of a stage.
  void submit(std::span<const network::Array> inputs);
  /// The next result in order of submission; waits for it. Nothing after finish() when all results
  /// have been taken. Rethrows the first error of a stage as EngineError with the stage's name.
  std::optional<Result> next();
  /// No more frames will come; those on their way still arrive.
  void finish();
  /// Ends all threads as soon as their current phase is done; frames on their way are dropped.
  void stop();
  std::vector<StageStatistics> statistics() const;

 private:
  friend Session deploy(const plan::Plan&, const network::Network&,
                        const std::map<std::string, engine::Engine*>&, const SessionOptions&);
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Prepares every phase on its stage's processor, allocates the slots, starts the threads.
/// `engines` by the names used in the plan; they and the network must outlive the session.
/// InputError if plan and network do not belong together or a processor is not on this machine.
Session deploy(const plan::Plan& plan, const network::Network& network,
               const std::map<std::string, engine::Engine*>& engines,
               const SessionOptions& options = {});

}  // namespace millrace::runtime
