#pragma once
// A plan at work: frames in, results out.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/options.h"
#include "millrace/tensor.h"

namespace millrace {
inline namespace v1 {

struct SessionOptions {
  bool pin = true;        // each thread to its processor's cores
  double time_scale = 1;  // of stages for boards that are not here; 0: as long as computing takes
  Options options;
};

struct Result {
  std::int64_t frame = 0;  // in order of submission, from 0
  Frame outputs;
  Duration latency{};  // from the end of submit() to its last output, and those before it
};

/// What a stage did.
struct StageStatistics {
  std::string name;
  std::int64_t frames = 0;
  Duration busy{}, waiting{};
  std::int64_t memory_bytes = 0;  // packed weights and buffers
};

/// Copies are one session; the last one ends it and drops frames on their way. One thread may
/// submit while another takes results; all other functions may be called by any thread. The token
/// of SessionOptions ends what waits.
class Session {
 public:
  /// Puts in a frame: a tensor for each input, in the model's order. Waits while the pipeline is
  /// full, so a thread that also takes results uses try_submit() or stays below depth(). The memory
  /// is shared, not copied. False: the session has ended. Error of a frame that does not fit, or
  /// of a stage that failed.
  bool submit(const Frame& frame);
  /// The same, but false as soon as a result can be taken while there is no room.
  bool try_submit(const Frame& frame);
  /// The next result, in order; waits for it. Nothing after finish() when all were taken, or after
  /// stop(). Rethrows the first error of a stage. Not of a session with a callback.
  std::optional<Result> next();
  /// submit() and next() of one frame. Any thread; one frame after the other. Not beside submit()
  /// or next(), and not of a session with a callback.
  Frame run(const Frame& frame);

  /// No more frames come; those on their way arrive.
  void finish();
  /// With a callback: finish(), and returns when it has had all results. Rethrows what a stage or
  /// the callback threw.
  void wait();
  /// Ends all threads; frames on their way are dropped.
  void stop();

  /// submit() takes so many frames before a result has to be taken.
  std::int64_t depth() const;
  std::vector<StageStatistics> statistics() const;

 private:
  friend struct Access;
  struct Impl;
  explicit Session(std::shared_ptr<void> impl) : impl_(std::move(impl)) {}
  Impl* impl() const { return static_cast<Impl*>(impl_.get()); }

  std::shared_ptr<void> impl_;  // an Impl
};

}  // namespace v1
}  // namespace millrace
