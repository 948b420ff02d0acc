#pragma once
// How fast the plan of a mapping is, by its dataflow graph, without making the plan.
#include <span>
#include <vector>

#include "explore/mapping/evaluator.h"
#include "plan/build.h"

namespace millrace::explore {

/// Phases, offsets, slots and times are those of plan::build and predicted(), for plans without
/// batches, replicas and streams. Copies what it needs of the problem.
class PlanPeriod {
 public:
  /// From the options, only the slots and the limits of offsets count.
  explicit PlanPeriod(const Problem& problem, const plan::BuildOptions& options = {});

  /// The nanoseconds between two frames, with as many slots as build() gives: at least the slowest
  /// stage, and more where memory keeps offsets small. Slots that are chosen later may be fewer, or
  /// make the plan faster. Infinite where a layer cannot run. `genes`: by layer.
  double of(std::span<const Gene> genes) const;

 private:
  /// What has slots: by whom it is made and read.
  struct Slots {
    std::int64_t bytes = 0;
    bool is_input = false, is_output = false;
    std::size_t maker = 0;  // unless it is an input
    std::vector<std::size_t> readers = {};
  };
  struct Phases;

  Phases phases_of(std::span<const Gene> genes) const;
  void add_times(std::span<const Gene> genes, Phases& phases) const;
  void add_offsets(Phases& phases) const;
  std::int64_t slots_needed(const Slots& slots, const Phases& phases, std::int64_t limit) const;
  bool fits(const Phases& phases, std::int64_t limit) const;
  std::int64_t limit_of(const Phases& phases) const;
  double period_with(const Phases& phases, std::int64_t limit) const;
  /// What the copy engines need for a frame; 0: there are none.
  double slowest_copy_engine(std::span<const Gene> genes) const;

  Evaluator evaluator_;
  std::int64_t capacity_, most_offset_, most_memory_;
  std::vector<std::vector<std::size_t>> inputs_;  // by layer
  std::vector<Slots> slots_;
  std::vector<Problem::Borders> borders_;  // by processor
};

}  // namespace millrace::explore
