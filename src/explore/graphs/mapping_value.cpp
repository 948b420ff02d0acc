#include "explore/graphs/mapping_value.h"

#include <algorithm>

#include "deployment/releases.h"
#include "explore/system/settings.h"
#include "realtime/utilisation.h"

namespace millrace::explore {
namespace {

constexpr double no_bound = 1000;

Time deadline_at_highest(const system::System& system, system::GroupId group) {
  return deadline_of(system, group, system.levels - 1) - system.overhead;
}

void add_demand(MappingValue& value, double demand, system::GroupId group) {
  if (demand <= value.demand) return;
  value.demand = demand;
  value.tightest = group;
}

/// `groups`: by flow.
void add_bounds(const realtime::TaskSystem& tasks, const realtime::AnalysisOptions& options,
                const std::vector<system::GroupId>& groups, MappingValue& value) {
  const realtime::Bounds bounds = realtime::analyse(tasks, options);
  for (std::size_t f = 0; f < deployment::group_flows(tasks); ++f) {
    const Time bound = judged(tasks.flows[f], bounds.flows[f]);
    value.response = std::max(value.response, bound);
    const bool has_none = bound == realtime::unbounded;
    const double demand = has_none ? no_bound : seconds(bound) / seconds(*tasks.flows[f].deadline);
    add_demand(value, std::min(demand, no_bound), groups.at(f));
  }
}

/// What releases of these groups take of a core.
double release_share(const system::System& system, const std::vector<system::GroupId>& groups) {
  double sum = 0;
  for (const system::GroupId group : groups)
    sum += seconds(system.release_cost) / seconds(period_of(system, group, system.levels - 1));
  return sum;
}

/// As subnets_too_many() takes it: groups without a network have no subnets.
CombinationProblem rooms_of(const MappingProblem& problem) {
  CombinationProblem result{problem.system, problem.board, problem.plans, {}};
  for (auto& plans : result.plans)
    if (plans.empty()) plans.emplace_back();
  return result;
}

}  // namespace

MappingValue value_of(const deployment::Deployment& deployment, const board::Board& board,
                      const realtime::AnalysisOptions& options) {
  MappingValue value;
  for (std::size_t s = 0; s < deployment.system.scenarios.size(); ++s) {
    const realtime::TaskSystem tasks =
        task_system(deployment, board, {system::ScenarioId(s), deployment.system.levels - 1});
    bool is_overloaded = false;
    for (const realtime::Utilisation& each : realtime::utilisations(tasks)) {
      value.utilisation = std::max(value.utilisation, each.share);
      is_overloaded = is_overloaded || each.is_overloaded;
    }
    if (is_overloaded) {
      value.demand = no_bound;
      value.response = realtime::unbounded;
    } else {
      add_bounds(tasks, options, deployment.system.scenarios[s].groups, value);
    }
  }
  value.feasible = value.demand <= 1;
  return value;
}

MappingEvaluator::MappingEvaluator(const MappingProblem& problem)
    : problem_(problem), scenes_(scenes_of(problem.system)), rooms_(rooms_of(problem)) {
  deployment_.system = problem.system;
  deployment_.assignments.resize(problem.system.groups.size());
}

MappingLoad MappingEvaluator::load(const Mapping& mapping) const {
  MappingLoad result;
  for (const Scene& scene : scenes_) {
    std::vector<double> shares = utilisations_of(problem_, mapping, scene.groups);
    const double releases = release_share(problem_.system, scene.groups);
    for (std::size_t p = 0; p < shares.size(); ++p)
      if (shares[p] > 0 && problem_.board.processors[p].kind == board::ProcessorKind::cpu)
        shares[p] += releases;
    double squares = 0;
    for (const double share : shares) squares += share * share;
    result.largest = std::max(result.largest, std::ranges::max(shares));
    result.squares = std::max(result.squares, squares);
  }
  return result;
}

std::size_t MappingEvaluator::subnets_over(const Mapping& mapping) const {
  std::vector<system::GroupId> networks;
  for (std::size_t g = 0; g < problem_.plans.size(); ++g)
    if (!problem_.plans[g].empty()) networks.emplace_back(g);
  return subnets_too_many(rooms_, networks, mapping.plans, mapping.stages);
}

/// Demand of the longest path, without any interference: much sooner known than by the analysis.
double MappingEvaluator::path_demand(system::GroupId group) const {
  const Time deadline = deadline_at_highest(problem_.system, group);
  if (deadline <= Time{}) return no_bound;
  return std::min(
      no_bound, seconds(alone_at_worst(deployment_.assignments[group.index])) / seconds(deadline));
}

void MappingEvaluator::add_scene(system::ScenarioId scenario, MappingValue& value) {
  double path = 0;
  system::GroupId longest{0};
  for (const system::GroupId group : problem_.system[scenario].groups)
    if (const double demand = path_demand(group); demand > path) {
      path = demand;
      longest = group;
    }
  if (value.utilisation > 1 || path > 1) {  // no analysis would find a bound below the deadline
    add_demand(value, std::max(path, value.utilisation), longest);
    value.response = realtime::unbounded;
    if (value.utilisation > 1) value.demand = std::min(no_bound, 10 * value.demand);
    return;
  }
  ++analyses_;
  const realtime::TaskSystem tasks =
      task_system(deployment_, problem_.board, {scenario, problem_.system.levels - 1});
  realtime::AnalysisOptions quick = problem_.analysis;
  quick.splits = realtime::PathSplits::never;
  add_bounds(tasks, quick, problem_.system[scenario].groups, value);
}

MappingValue MappingEvaluator::value(const Mapping& mapping) {
  MappingValue value;
  value.utilisation = load(mapping).largest;
  for (std::size_t g = 0; g < deployment_.assignments.size(); ++g)
    deployment_.assignments[g] = grafted(problem_, mapping, system::GroupId(g));
  for (std::size_t s = 0; s < problem_.system.scenarios.size(); ++s)
    add_scene(system::ScenarioId(s), value);
  value.feasible = value.demand <= 1 && subnets_over(mapping) == 0;
  return value;
}

}  // namespace millrace::explore
