#include "explore/system/methods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "explore/system/placement.h"

namespace millrace::explore {
namespace {

constexpr double no_power = std::numeric_limits<double>::infinity();

constexpr std::size_t most_nodes_for_any = 20'000;   // to find a combination that is feasible
constexpr double tighter_by = 0.05, tightest = 1.5;  // rates, in the search with estimates

constexpr std::array<DeployMethod, 6> all_methods{{
    {.name = "PR", .purpose = "one combination for all scenarios, clocks for each", .clocks = true},
    {.name = "PR-GB",
     .purpose = "the combination of GB, clocks for each scenario",
     .all_together = true,
     .clocks = true},
    {.name = "GB",
     .purpose = "one combination for all groups at once, highest clocks",
     .all_together = true},
    {.name = "SOTA",
     .purpose = "as GB, from layer-wise estimates of accelerators' times",
     .all_together = true,
     .estimated = true},
    {.name = "BS",
     .purpose = "each network on one processor, highest clocks",
     .one_processor = true},
    {.name = "LC",
     .purpose = "a combination for each scenario: an ideal, for tasks cannot migrate",
     .each_scenario = true,
     .clocks = true},
}};

bool is_on_one_processor(const GroupPlan& plan) {
  std::set<std::string> processors;
  for (const deployment::Task& task : plan.assignment.tasks)
    if (task.step == deployment::Step::phase) processors.insert(task.processor);
  return processors.size() == 1;
}

/// The fastest plan on one processor; none: each needs several.
std::optional<std::size_t> on_one_processor(const std::vector<GroupPlan>& plans) {
  std::optional<std::size_t> fastest;
  for (std::size_t p = 0; p < plans.size(); ++p)
    if (is_on_one_processor(plans[p]) && (!fastest || plans[p].latency < plans[*fastest].latency))
      fastest = p;
  return fastest;
}

std::vector<std::vector<GroupPlan>> plans_for(const DeployMethod& method, const MethodCase& given) {
  auto plans = method.estimated ? given.estimated : given.plans;
  if (method.one_processor)
    for (std::vector<GroupPlan>& each : plans)
      if (const auto only = on_one_processor(each)) each = {GroupPlan(each[*only])};
  return plans;
}

/// What was found among plans_for(), as indices into all plans.
Combination among_all(const MethodRun& run, Combination combination) {
  if (run.method.one_processor)
    for (std::size_t g = 0; g < combination.size(); ++g)
      combination[g] = on_one_processor(run.given.plans[g]).value_or(combination[g]);
  return combination;
}

/// One problem for each combination that the method looks for.
std::vector<CombinationProblem> problems_of(const MethodRun& run) {
  const auto& [method, given, rate] = run;
  CombinationProblem problem{given.system, given.board,   plans_for(method, given),
                             {},           rate.level,    rate.speed,
                             rate.tighter, given.analysis};
  problem.thorough = given.thorough;
  // What is searched with the highest clocks gets them.
  const bool searched_with_clocks = method.clocks && !method.all_together;
  problem.clocks = searched_with_clocks ? given.clock_search : ClockSearch::none;
  std::vector<CombinationProblem> problems;
  if (method.each_scenario) {
    for (const Scene& scene : scenes_of(given.system)) {
      problem.scenes = {scene};
      problems.push_back(problem);
    }
    return problems;
  }
  problem.scenes = scenes_of(given.system);
  if (method.all_together) problem.scenes = {scene_of_all(given.system)};
  return {problem};
}

/// Genetic; if that finds nothing that meets the deadlines, exact within its limit of nodes.
Combined combined(const CombinationProblem& problem, const CombineOptions& options) {
  for (const Combination& start : options.start)
    if (options.first_feasible)
      if (Combined found = assess(problem, start); found.feasible) return found;
  Combined found = genetic_combination(problem, options);
  if (found.feasible) return found;
  CombineOptions exact = options;
  exact.first_feasible = true;
  exact.most_nodes = std::min(options.most_nodes, most_nodes_for_any);
  Combined other = exact_combination(problem, exact);
  if (!other.feasible) return found;
  other.generations = found.generations;
  other.evaluated += found.evaluated;
  if (options.first_feasible) return other;
  return assess(problem, other.combination, other.placement);
}

/// In the scenarios, with the actual times.
CombinationProblem actual_problem(const MethodRun& run) {
  const auto& [method, given, rate] = run;
  CombinationProblem problem{given.system, given.board, given.plans,  scenes_of(given.system),
                             rate.level,   rate.speed,  rate.tighter, given.analysis};
  problem.thorough = given.thorough;
  problem.clocks = method.clocks ? given.clock_search : ClockSearch::none;
  return problem;
}

void assess_actually(const MethodRun& run, MethodResult& result) {
  CombinationProblem problem = actual_problem(run);
  const std::vector<Scene> scenes = problem.scenes;
  result.feasible = true;
  result.power_mw = 0;
  result.scenes.clear();
  for (std::size_t s = 0; s < scenes.size(); ++s) {
    const Combined& found = result.found[run.method.each_scenario ? s : 0];
    problem.scenes = {{scenes[s].groups, 1}};
    if (found.combination.empty()) {
      result.feasible = false;
      result.power_mw = no_power;
      result.scenes.emplace_back();
      continue;
    }
    const Combined now = assess(problem, found.combination, found.placement);
    result.feasible = result.feasible && now.feasible;
    result.power_mw += now.feasible ? scenes[s].share * now.power_mw : no_power;
    result.scenes.push_back(now.scenes.front());
  }
}

/// The search alone; whether what it found meets the deadlines as the method sees them.
struct Searched {
  std::vector<Combined> found;
  bool feasible = true;
};

Searched search_at(const MethodRun& run, const CombineOptions& options,
                   const std::vector<Combined>& before) {
  Searched result;
  const auto problems = problems_of(run);
  for (std::size_t p = 0; p < problems.size(); ++p) {
    CombineOptions own = options;
    if (p < before.size() && !before[p].combination.empty() && !run.method.one_processor)
      own.start.push_back(before[p].combination);
    result.found.push_back(combined(problems[p], own));
    result.found.back().combination = among_all(run, result.found.back().combination);
    result.feasible = result.feasible && result.found.back().feasible;
    if (!result.feasible && options.first_feasible) break;
  }
  return result;
}

void set_estimates(Problem& problem, std::size_t processor, std::size_t reference) {
  double ratios = 0, count = 0;
  for (const auto& times : problem.time) {
    const double ratio = times[processor] / times[reference];
    if (!std::isfinite(ratio) || ratio <= 0) continue;
    ratios += ratio;
    ++count;
  }
  if (count == 0) return;
  for (auto* all : {&problem.time, &problem.alone})
    for (auto& times : *all)
      if (std::isfinite(times[processor])) times[processor] = times[reference] * ratios / count;
}

/// The largest whole number at which `holds`, from 1 up; 0: not even at 1.
template <class Holds>
std::int64_t largest_rate(const Holds& holds) {
  std::int64_t good = 0, bad = 1;
  while (holds(bad)) {
    good = bad;
    bad *= 2;
    if (bad > 1'000'000) return good;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

std::span<const DeployMethod> deploy_methods() { return all_methods; }

const DeployMethod* deploy_method_named(const std::string& name) {
  const auto found = std::ranges::find(all_methods, name, &DeployMethod::name);
  return found == all_methods.end() ? nullptr : &*found;
}

MethodResult run_method(const MethodRun& run, const CombineOptions& options) {
  MethodResult result;
  double tighter = 1;  // what estimates take for schedulable may not be so
  do {
    MethodRun asked = run;
    asked.rate.speed *= tighter;
    asked.rate.tighter *= tighter;
    result.found = search_at(asked, options, {}).found;
    for (const Combined& found : result.found) {
      result.evaluated += found.evaluated;
      result.generations += found.generations;
      result.clock_searches += found.clock_searches;
      result.clock_seconds += found.clock_seconds;
    }
    assess_actually(run, result);
    tighter += tighter_by;
  } while (run.method.estimated && !result.feasible && tighter <= tightest);
  return result;
}

std::optional<ExactMethodResult> exact_method(const MethodRun& run, const CombineOptions& options,
                                              const MethodResult& known) {
  if (run.method.each_scenario || run.method.all_together) return std::nullopt;
  CombinationProblem problem = problems_of(run).front();
  if (problem.clocks == ClockSearch::greedy)  // which finds no lower bound
    problem.clocks = ClockSearch::search;
  const Combined& before = known.found.front();
  Combined found = exact_combination(problem, options, &before);
  ExactMethodResult result{known, found.bound_mw};
  if (!found.feasible || (before.feasible && found.power_mw >= before.power_mw)) return result;
  found.combination = among_all(run, std::move(found.combination));
  MethodResult better = known;
  better.found = {std::move(found)};
  assess_actually(run, better);
  if (better.power_mw < known.power_mw) result.decided = std::move(better);
  return result;
}

MethodResult at_rate(const MethodRun& run, const MethodResult& decided) {
  MethodResult result{.found = decided.found};
  assess_actually(run, result);
  return result;
}

double fastest_fps(const system::System& system) {
  double fastest = 0;
  for (const system::Group& group : system.groups)
    fastest = std::max(fastest, group.rates.most_fps);
  return fastest;
}

MaxRate max_rate(const DeployMethod& method, const MethodCase& given,
                 const CombineOptions& options) {
  const double fastest = fastest_fps(given.system);
  const auto at = [&](std::int64_t fps) {
    return RateAt{given.system.levels - 1, static_cast<double>(fps) / fastest};
  };
  CombineOptions first = options;
  first.first_feasible = true;
  MaxRate result;
  std::vector<Combined> best;
  const std::int64_t believed = largest_rate([&](std::int64_t fps) {
    Searched searched = search_at({method, given, at(fps)}, first, best);
    if (searched.feasible) best = std::move(searched.found);
    return searched.feasible;
  });
  if (best.empty()) return result;
  result.believed_fps = static_cast<double>(believed);
  // Among those that are as fast, the one that draws least.
  MethodResult decided{.found = search_at({method, given, at(believed)}, options, best).found};
  if (method.all_together) {
    CombinationProblem all = actual_problem({method, given, at(1)});
    all.scenes = {scene_of_all(given.system)};
    all.clocks = ClockSearch::none;
    const Combined& found = decided.found.front();
    result.together_fps = static_cast<double>(largest_rate([&](std::int64_t fps) {
      all.speed = at(fps).speed;
      return assess(all, found.combination, found.placement).feasible;
    }));
  }
  DeployMethod plain = method;  // the highest clocks tell whether deadlines can hold
  plain.clocks = false;
  const std::int64_t fps = largest_rate([&](std::int64_t rate) {
    return at_rate({plain, given, at(rate)}, decided).feasible;
  });
  result.fps = static_cast<double>(fps);
  if (fps > 0) result.result = at_rate({method, given, at(fps)}, decided);
  return result;
}

Problem estimated_problem(const Problem& problem, const board::Board& board) {
  std::vector<bool> is_estimated;
  std::size_t reference = board.processors.size();
  double least = no_power;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const board::Device* device = device_of(board, board.processors[p]);
    is_estimated.push_back(device != nullptr &&
                           device->limits.granularity == board::Granularity::subnet);
    double sum = 0;
    for (const auto& times : problem.time) sum += times[p];
    if (is_estimated[p] || sum >= least) continue;
    least = sum;
    reference = p;
  }
  Problem result = problem;
  if (reference == board.processors.size()) return result;
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (is_estimated[p]) set_estimates(result, p, reference);
  return result;
}

}  // namespace millrace::explore
