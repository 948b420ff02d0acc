#pragma once
// What searches for capacities share: trying some, and what limits them.
#include <vector>

#include "dataflow/buffers.h"

namespace millrace::dataflow {

/// What certain capacities allow.
struct Trial {
  bool live = false;
  Fraction period;                     // if live
  std::vector<std::size_t> obstacles;  // pools on the critical cycle for want of space: only
                                       // capacities larger at one of them can be better
};

/// Tries capacities of one graph, and counts.
class Storage {
 public:
  Storage(const Graph& graph, const SizingOptions& options);

  /// Pools of channels, most of them of one channel; counted from 0.
  std::size_t pools() const { return pools_.size(); }
  /// Other capacities than multiples of this above the least make no difference.
  std::int64_t step(std::size_t pool) const { return pools_[pool].step; }
  /// The tokens that go through the pool in an iteration, a multiple of its step.
  std::int64_t ample(std::size_t pool) const { return pools_[pool].ample; }
  /// Less would deadlock two actors, or is not wanted.
  const Capacities& least() const { return least_; }

  std::int64_t space(const Capacities& capacities, std::size_t pool) const {
    return capacities[pools_[pool].channels.front()];
  }
  void set_space(Capacities& capacities, std::size_t pool, std::int64_t space) const;
  /// The weighted total.
  std::int64_t total(const Capacities& capacities) const;

  /// Capacities of 0 stand for no bound. Nothing if the analysis exceeds its limits.
  std::optional<Trial> attempt(const Capacities& capacities);
  /// Whether this share of what the options allow has been used up.
  bool must_stop(double share = 1) const;

 private:
  struct Shared {
    std::vector<std::size_t> channels;
    std::int64_t step = 1, ample = 0, weight = 1;
  };
  void add(const Pool& pool, const std::vector<std::int64_t>& cycles);
  std::int64_t least_of(std::size_t channel, const std::vector<std::int64_t>& cycles) const;

  const Graph& graph_;
  SizingOptions options_;
  std::chrono::steady_clock::time_point begin_;
  std::int64_t tries_ = 0;
  std::vector<Shared> pools_;
  std::vector<std::size_t> pool_of_;  // by channel
  Capacities least_;
};

}  // namespace millrace::dataflow
