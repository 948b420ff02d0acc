#pragma once
// Inside the folder: what combinations are worth, each question answered once.
#include <string>
#include <unordered_map>

#include "explore/system/combination.h"

namespace millrace::explore {

class CombinationEvaluator {
 public:
  /// Borrowed.
  explicit CombinationEvaluator(const CombinationProblem& problem) : problem_(problem) {}

  /// Without its clocks and power where deadlines are missed or `with_clocks` is false. `scene`: an
  /// index, and of it only these groups.
  const SceneResult& scene(std::size_t scene, const std::vector<system::GroupId>& groups,
                           const Combination& combination, const Placement& placement,
                           bool with_clocks);

  /// All scenes; power infinite if one misses a deadline or the board lacks room.
  Combined assess(const Combination& combination, const Placement& placement, bool with_clocks);

  const CombinationProblem& problem() const { return problem_; }
  std::size_t analysed() const { return analysed_; }  // different scenes

 private:
  SceneResult evaluate(const Scene& scene, const Combination& combination,
                       const Placement& placement, bool with_clocks);

  const CombinationProblem& problem_;
  std::unordered_map<std::u16string, SceneResult> known_[2];  // without and with clocks
  std::size_t analysed_ = 0;
};

}  // namespace millrace::explore
