#include "explore/system/evaluator.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

#include "explore/system/placement.h"
#include "explore/system/scene_system.h"

namespace millrace::explore {
namespace {

constexpr double infinite_power = std::numeric_limits<double>::infinity();

std::u16string key_of(const ScenePart& part, const Combination& combination,
                      const Placement& placement) {
  std::u16string key{static_cast<char16_t>(part.scene)};
  for (const system::GroupId group : part.groups) {
    key += static_cast<char16_t>(group.index);
    key += static_cast<char16_t>(combination[group.index]);
    for (const std::size_t processor : placement[group.index])
      key += static_cast<char16_t>(processor);
  }
  return key;
}

ClockResult clocks_by(ClockSearch search, const ClockProblem& problem) {
  switch (search) {
    case ClockSearch::search:
      return search_clocks(problem);
    case ClockSearch::greedy:
      return greedy_clocks(problem);
    case ClockSearch::exhaustive:
      return exhaustive_clocks(problem);
    case ClockSearch::none:
      break;
  }
  ClockResult result{.clocks = highest_clocks(problem), .checks = 1};
  result.schedulable = problem.is_schedulable(result.clocks);
  result.cost = cost_of(problem, result.clocks);
  return result;
}

/// How many subnets are loaded.
struct Subnets {
  std::vector<std::size_t> on_processor, on_device;
};

void add_subnets(const CombinationProblem& problem, const GroupPlan& plan,
                 const std::vector<std::size_t>& processors, Subnets& subnets) {
  for (std::size_t t = 0; t < processors.size(); ++t) {
    if (plan.assignment.tasks[t].step != deployment::Step::phase) continue;
    const std::size_t processor = processor_like(problem.board, processors[t]);
    ++subnets.on_processor[processor];
    ++subnets.on_device[device_index(problem.board, processor)];
  }
}

}  // namespace

SceneResult CombinationEvaluator::evaluate(const Scene& scene, const Combination& combination,
                                           const Placement& placement, bool with_clocks) {
  SceneSystem system(problem_, scene, combination, placement);
  SceneResult result;
  if (!with_clocks) {
    result.demand = system.demand();
    result.schedulable = result.demand <= 1;
    result.checks = 1;
    return result;
  }
  ClockProblem clocks{.costs = powers_of(problem_, scene, combination)};
  clocks.order = by_reduction(clocks.costs);
  clocks.is_schedulable = [&](const ClockLevels& levels) { return system.is_schedulable(levels); };
  const auto start = std::chrono::steady_clock::now();
  const ClockResult found = clocks_by(problem_.clocks, clocks);
  ++clock_searches_;
  clock_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.schedulable = found.schedulable;
  result.clocks = found.clocks;
  result.power_mw = found.schedulable ? found.cost : infinite_power;
  result.checks = found.checks;
  return result;
}

const SceneResult& CombinationEvaluator::scene(const ScenePart& part,
                                               const Combination& combination,
                                               const Placement& placement, bool with_clocks) {
  const auto [at, is_new] =
      known_[with_clocks ? 1 : 0].try_emplace(key_of(part, combination, placement));
  if (!is_new) return at->second;
  const Scene scene{part.groups, 1};
  SceneResult result;
  if (with_clocks) {
    const SceneResult& plain = this->scene(part, combination, placement, false);
    result = plain;
    result.power_mw = infinite_power;
    if (plain.schedulable) {
      result = evaluate(scene, combination, placement, true);
      result.demand = plain.demand;
    }
  } else {
    result = evaluate(scene, combination, placement, false);
  }
  return at->second = std::move(result);
}

Combined CombinationEvaluator::assess(const Combination& combination, const Placement& placement,
                                      bool with_clocks) {
  Combined result{.combination = combination, .placement = placement};
  result.feasible = subnets_too_many(problem_, groups_of(problem_), combination, placement) == 0;
  for (std::size_t s = 0; s < problem_.scenes.size(); ++s) {
    result.scenes.push_back(scene({s, problem_.scenes[s].groups}, combination, placement, false));
    result.feasible = result.feasible && result.scenes.back().schedulable;
  }
  result.power_mw = infinite_power;
  result.evaluated = 1;
  if (!result.feasible || !with_clocks) return result;
  result.power_mw = 0;
  for (std::size_t s = 0; s < problem_.scenes.size(); ++s) {
    result.scenes[s] = scene({s, problem_.scenes[s].groups}, combination, placement, true);
    result.feasible = result.feasible && result.scenes[s].schedulable;
    result.power_mw += problem_.scenes[s].share * result.scenes[s].power_mw;
  }
  return result;
}

Combined assess(const CombinationProblem& problem, const Combination& combination) {
  return assess(problem, combination, place_stages(problem, combination));
}

Combined assess(const CombinationProblem& problem, const Combination& combination,
                const Placement& placement) {
  return CombinationEvaluator(problem).assess(combination, placement, true);
}

std::vector<system::GroupId> groups_of(const CombinationProblem& problem) {
  std::set<system::GroupId> groups;
  for (const Scene& scene : problem.scenes) groups.insert(scene.groups.begin(), scene.groups.end());
  return {groups.begin(), groups.end()};
}

std::size_t subnets_too_many(const CombinationProblem& problem,
                             const std::vector<system::GroupId>& groups,
                             const Combination& combination, const Placement& placement) {
  Subnets subnets{std::vector<std::size_t>(problem.board.processors.size(), 0),
                  std::vector<std::size_t>(problem.board.devices.size() + 1, 0)};
  for (const system::GroupId group : groups)
    add_subnets(problem, problem.plans[group.index][combination[group.index]],
                placement[group.index], subnets);
  std::size_t over = 0;
  const auto add = [&over](const std::optional<int>& limit, std::size_t count) {
    if (limit && count > static_cast<std::size_t>(*limit))
      over += count - static_cast<std::size_t>(*limit);
  };
  for (std::size_t p = 0; p < subnets.on_processor.size(); ++p)
    if (const std::size_t d = device_index(problem.board, p); d < problem.board.devices.size())
      add(problem.board.devices[d].limits.subnets, subnets.on_processor[p]);
  for (std::size_t d = 0; d < problem.board.devices.size(); ++d)
    add(problem.board.devices[d].limits.subnets_together, subnets.on_device[d]);
  return over;
}

}  // namespace millrace::explore
