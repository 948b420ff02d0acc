#pragma once
// Inside the folder: what combinations are worth, each question answered once.
#include <string>
#include <unordered_map>

#include "explore/system/combination.h"

namespace millrace::explore {

/// Only these groups of the problem's scene with this index.
struct ScenePart {
  std::size_t scene = 0;
  const std::vector<system::GroupId>& groups;
};

class CombinationEvaluator {
 public:
  /// Borrowed.
  explicit CombinationEvaluator(const CombinationProblem& problem) : problem_(problem) {}

  /// Without its clocks and power where deadlines are missed or `with_clocks` is false.
  const SceneResult& scene(const ScenePart& part, const Combination& combination,
                           const Placement& placement, bool with_clocks);

  /// All scenes; power infinite if one misses a deadline or the board lacks room.
  Combined assess(const Combination& combination, const Placement& placement, bool with_clocks);

  const CombinationProblem& problem() const { return problem_; }
  /// What was spent so far on clocks.
  void note_clock_searches(Combined& result) const {
    result.clock_searches = clock_searches_;
    result.clock_seconds = clock_seconds_;
  }

 private:
  SceneResult evaluate(const Scene& scene, const Combination& combination,
                       const Placement& placement, bool with_clocks);

  const CombinationProblem& problem_;
  std::unordered_map<std::u16string, SceneResult> known_[2];  // without and with clocks
  std::size_t clock_searches_ = 0;
  double clock_seconds_ = 0;
};

}  // namespace millrace::explore
