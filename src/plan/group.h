#pragma once
// The frames that a copy of a shared plan has taken, on their way through its phases.
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.h"

namespace millrace::plan {

/// So many frames that follow each other. A phase with a batch waits for that many of them, or for
/// all there are; phases that come later go first.
class Group {
 public:
  explicit Group(const Stage& stage);

  /// As many frames as the stage gathers.
  std::int64_t most() const { return most_; }
  /// Precondition: all phases are done with those taken before; `count` from 1 to most().
  void take(std::int64_t first, std::int64_t count);

  struct Step {
    std::size_t phase = 0;
    std::int64_t frame = 0, count = 1;
  };
  /// What the stage does next; nothing: it is done with all.
  std::optional<Step> next() const;
  void end(const Step& step) { done_[step.phase] += step.count; }
  std::size_t phases() const { return done_.size(); }
  /// All that next() depends on, with frames as differences to `from`.
  void add_state(std::vector<std::int64_t>& state, std::int64_t from) const;

 private:
  std::vector<std::int64_t> batches_, done_;  // by phase
  std::int64_t most_ = 1, first_ = 0, count_ = 0;
};

}  // namespace millrace::plan
