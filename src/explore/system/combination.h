#pragma once
// Step 2 of chapter 4 of J. Kim's thesis: one plan for each group, the same in all scenarios.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/operation/ranks.h"
#include "explore/system/clocks.h"
#include "explore/system/group_plan.h"
#include "realtime/analysis.h"
#include "system/system.h"

namespace millrace::explore {

/// By GroupId: which of its plans each group has.
using Combination = std::vector<std::size_t>;
/// By GroupId and task: an index into Board::processors.
using Placement = std::vector<std::vector<std::size_t>>;

/// Groups that run together, for a share of the time.
struct Scene {
  std::vector<system::GroupId> groups;  // ascending
  double share = 1;
  bool operator==(const Scene&) const = default;
};

/// The system's scenarios, each with its share.
std::vector<Scene> scenes_of(const system::System& system);
/// All groups at once.
Scene scene_of_all(const system::System& system);

enum class ClockSearch { search, greedy, exhaustive, none };  // none: the highest clocks

struct CombinationProblem {
  const system::System& system;
  const board::Board& board;
  std::vector<std::vector<GroupPlan>> plans;  // by GroupId; at least one each
  std::vector<Scene> scenes;
  std::int64_t level = 0;
  double speed = 1;    // all rates are so many times those of the level
  double tighter = 1;  // deadlines that are not the period are so many times as short
  realtime::AnalysisOptions analysis = {};
  ClockSearch clocks = ClockSearch::search;
  /// With the splits of paths that `analysis` asks for, as a deployment is analysed; else without,
  /// which is quicker and finds no more to be schedulable.
  bool thorough = false;
};

/// The result of a scene with certain plans.
struct SceneResult {
  bool schedulable = false;
  /// The largest bound of a response as a share of its deadline, at the highest clocks; at most
  /// 1000, which also stands for no bound.
  double demand = 0;
  ClockLevels clocks = {};
  double power_mw = 0;     // of all processors; expected
  std::size_t checks = 0;  // of schedulability
};

struct Combined {
  Combination combination;
  Placement placement;
  bool feasible = false;
  double power_mw = 0;  // expected over the scenes by their shares; infinite: infeasible
  std::vector<SceneResult> scenes = {};  // by Scene
  std::size_t evaluated = 0, generations = 0;
  std::size_t clock_searches = 0;  // of different scenes
  double clock_seconds = 0;        // that these took
  /// No combination of these plans has less power, on whichever of equal processors. 0: unknown.
  double bound_mw = 0;
};

struct CombineOptions {
  std::size_t population = 128, generations = 10'000;
  std::size_t patience = 100;  // generations without anything better; 0: never ends early
  std::uint64_t seed = 1;
  std::vector<Combination> start = {};
  bool first_feasible = false;       // ends with the first combination that meets all deadlines
  std::size_t most_nodes = 200'000;  // of an exact search
  Ranks* ranks = nullptr;            // who share generations; borrowed; null: nobody
  std::function<bool()> stop = {};
  std::function<void(double share, double best_mw)> progress = {};
};

/// Algorithm 4 with lexicase selection; a case is a scene's share of the expected power.
Combined genetic_combination(const CombinationProblem& problem, const CombineOptions& options);

/// Branch and bound over plans and over the processors of accelerators, then of cores, best first.
/// It relies on that a further group, or another stage on a core, never makes the others' bounds or
/// the power smaller. The result has the least power of all placements that keep a network's stages
/// on as many processors as its plan. Where it has looked at `most_nodes`, it ends with the best so
/// far and its bound. `known`: the best so far; null: none.
Combined exact_combination(const CombinationProblem& problem, const CombineOptions& options,
                           const Combined* known = nullptr);

/// The result of one combination; placed by Algorithm 5, or as given.
Combined assess(const CombinationProblem& problem, const Combination& combination);
Combined assess(const CombinationProblem& problem, const Combination& combination,
                const Placement& placement);

/// The groups of all scenes, ascending.
std::vector<system::GroupId> groups_of(const CombinationProblem& problem);

/// By how many subnets these groups exceed what the SDKs of devices have room for; 0: they fit.
std::size_t subnets_too_many(const CombinationProblem& problem,
                             const std::vector<system::GroupId>& groups,
                             const Combination& combination, const Placement& placement);

}  // namespace millrace::explore
