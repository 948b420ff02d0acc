#pragma once
// The methods that chapter 4 of J. Kim's thesis compares, as rows of one list.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "explore/system/combination.h"

namespace millrace::explore {

struct DeployMethod {
  const char* name;  // "PR"
  const char* purpose;
  bool each_scenario = false;  // a combination for each: tasks would have to migrate
  bool one_processor = false;  // each network on one processor that runs all of it
  bool all_together = false;   // searched for all groups at once, whatever the scenarios
  bool estimated = false;      // with layer-wise estimates of accelerators' times
  bool clocks = false;         // chosen for each scenario; else the highest
};

std::span<const DeployMethod> deploy_methods();
/// Null if there is none.
const DeployMethod* deploy_method_named(const std::string& name);

/// What the methods choose from.
struct MethodCase {
  const system::System& system;
  const board::Board& board;
  std::vector<std::vector<GroupPlan>> plans;  // by GroupId
  /// The same configurations with layer-wise estimates; may be empty where no method needs them.
  std::vector<std::vector<GroupPlan>> estimated = {};
  realtime::AnalysisOptions analysis = {};
  ClockSearch clock_search = ClockSearch::search;
  bool thorough = false;  // as CombinationProblem::thorough
};

/// At a level, with all rates so many times as high. A deadline of the group's own stays.
struct RateAt {
  std::int64_t level = 0;
  double speed = 1;
  double tighter = 1;  // own deadlines are so many times as short
};

/// Borrowed.
struct MethodRun {
  const DeployMethod& method;
  const MethodCase& given;
  RateAt rate = {};
};

struct MethodResult {
  std::vector<Combined> found;           // one; or one for each scenario
  bool feasible = false;                 // in all scenarios, with the actual times
  double power_mw = 0;                   // expected, with the method's clocks; infinite: infeasible
  std::vector<SceneResult> scenes = {};  // by scenario
  std::size_t evaluated = 0, generations = 0, clock_searches = 0;
  double clock_seconds = 0;
};

/// The search, and what it found with the actual times in the system's scenarios. With estimates
/// the search is repeated, with rates 5 % higher and deadlines as much tighter, until they fit.
MethodResult run_method(const MethodRun& run, const CombineOptions& options);

/// The search by branch and bound of what the method looks for.
struct ExactMethodResult {
  MethodResult decided;  // what was known, if nothing draws less
  double bound_mw = 0;   // whatever is placed by hand, with these plans, draws at least so much
};
/// Nothing: the method looks for other scenarios than the system's. `given` should be thorough.
std::optional<ExactMethodResult> exact_method(const MethodRun& run, const CombineOptions& options,
                                              const MethodResult& known);

/// The same decision at another rate, where clocks are chosen anew.
MethodResult at_rate(const MethodRun& run, const MethodResult& decided);

struct MaxRate {
  /// The highest whole number of frames per second of the fastest group, the others in proportion,
  /// at which all deadlines hold in the scenarios; 0: none.
  double fps = 0;
  double together_fps = 0;   // with all groups at once, for a method that takes them so
  double believed_fps = 0;   // by the method's own estimates
  MethodResult result = {};  // at `fps`
};

/// From low rates up, each search begun with what the one before found; then by bisection.
MaxRate max_rate(const DeployMethod& method, const MethodCase& given,
                 const CombineOptions& options);

/// The highest level's rate of the fastest group.
double fastest_fps(const system::System& system);

/// A problem in which the time of a layer on an accelerator that is measured in subnets only is its
/// time on the fastest unrestricted processor times the mean ratio of both.
Problem estimated_problem(const Problem& problem, const board::Board& board);

}  // namespace millrace::explore
