#pragma once
// What searches for capacities share: trying some, and what limits them.
#include <vector>

#include "dataflow/buffers.h"

namespace millrace::dataflow {

/// What certain capacities allow.
struct Trial {
  bool live = false;
  Fraction period;                     // if live
  std::vector<std::size_t> obstacles;  // channels on the critical cycle for want of space: only
                                       // capacities larger at one of them can be better
};

/// Tries capacities of one graph, and counts.
class Storage {
 public:
  Storage(const Graph& graph, const SizingOptions& options);

  /// Channels that are bounded.
  const std::vector<std::size_t>& channels() const { return channels_; }
  /// Other capacities than multiples of this above the initial tokens make no difference.
  std::int64_t step(std::size_t channel) const { return steps_[channel]; }
  /// Less would deadlock the channel's two actors.
  const Capacities& least() const { return least_; }
  /// The tokens that go through the channel in an iteration, a multiple of its step.
  std::int64_t ample(std::size_t channel) const { return ample_[channel]; }

  /// Capacities of 0 stand for no bound. Nothing if the analysis exceeds its limits.
  std::optional<Trial> attempt(const Capacities& capacities);
  bool must_stop() const;

 private:
  const Graph& graph_;
  SizingOptions options_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t tries_ = 0;
  std::vector<std::size_t> channels_;
  std::vector<std::int64_t> steps_, ample_;
  Capacities least_;
};

}  // namespace millrace::dataflow
