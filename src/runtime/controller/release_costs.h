#pragma once
// What the release thread takes of a core for one frame.
#include <cstddef>
#include <vector>

#include "base/units.h"

namespace millrace::runtime {

/// The time on a core of each wake-up in which a frame was released, as if it had released only the
/// one frame that took longest. From one wake-up to the next, so that going to sleep and waking up
/// are in it. For the release thread; allocates no memory after it was made.
class ReleaseCosts {
 public:
  /// Keeps so many, the first ones; 0: asks no clock at all.
  explicit ReleaseCosts(std::size_t most) : most_(most) { kept_.reserve(most); }

  /// The thread is awake: what it did since the last one belongs to that one.
  void begin_wake_up();
  void begin_release();
  void end_release();

  const std::vector<Time>& kept() const { return kept_; }

 private:
  bool is_full() const { return kept_.size() >= most_; }

  std::size_t most_;
  std::vector<Time> kept_;
  bool has_begun_ = false;
  Time awake_since_{}, released_since_{};  // on the core
  Time all_{}, longest_{};                 // of the releases of this wake-up
};

}  // namespace millrace::runtime
