#include "explore/system/deploy_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/quantity.h"
#include "deployment/power.h"
#include "explore/system/settings.h"
#include "plan/variants.h"

namespace millrace::explore {
namespace {

constexpr std::size_t most_mapping_nodes = 5'000'000;  // of an exhaustive search

MappingReport run_mapping(const GraphWork& work, const MappingProblem& problem,
                          const MappingMethod& method) {
  const auto shown = work.context.begin(fmt::format("mapping ({})", method.name));
  CombineOptions options = work.options.combine;
  options.seed = work.options.seed;
  options.stop = work.stop;
  options.progress = [&shown](double share, double utilisation) {
    shown->show(share, utilisation <= 1
                           ? fmt::format("largest utilisation {:.1f} %", 100 * utilisation)
                           : std::string("no mapping yet"));
  };
  const auto start = std::chrono::steady_clock::now();
  MappingReport report{method.name, method.run(problem, options)};
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

/// All clocks at their highest: the search balances utilisations, not power.
deployment::Setting setting_at(const GraphWork& work, const deployment::Deployment& deployment,
                               const deployment::Operation& operation) {
  deployment::Setting setting;
  setting.scenario = operation.scenario;
  setting.level = operation.level;
  setting.clocks = operation.clocks;
  for (const auto& device : deployment::expected_power(deployment, work.board, operation))
    if (!work.is_power_assumed) setting.power_mw += device.still_mw + device.busy_mw;
  setting.power_mw = std::round(1e3 * setting.power_mw) / 1e3;
  setting.bounds.resize(work.system.groups.size());
  const realtime::TaskSystem tasks = task_system(deployment, work.board, operation);
  const realtime::Bounds bounds = realtime::analyse(tasks, work.options.analysis);
  if (!realtime::is_schedulable(tasks, bounds)) return {};
  const auto& groups = work.system[operation.scenario].groups;
  for (std::size_t f = 0; f < groups.size(); ++f)
    setting.bounds[groups[f].index] = judged(tasks.flows[f], bounds.flows[f]);
  return setting;
}

void add_settings(const GraphWork& work, deployment::Deployment& deployment) {
  deployment::Clocks highest;
  for (const board::Device& device : work.board.devices)
    if (!device.clocks.empty()) highest[device.name] = device.clocks.back();
  for (std::size_t s = 0; s < work.system.scenarios.size(); ++s)
    for (std::int64_t level = 0; level < work.system.levels; ++level) {
      auto setting = setting_at(work, deployment, {system::ScenarioId(s), level, highest});
      if (!setting.bounds.empty()) deployment.settings.push_back(std::move(setting));
    }
}

deployment::Assignment assignment_of(const GraphWork& work, const MappingProblem& problem,
                                     const Mapping& mapping, system::GroupId group) {
  deployment::Assignment result = grafted(problem, mapping, group);
  if (work.plans[group.index].empty()) return result;
  const std::size_t chosen = mapping.plans[group.index];
  result.plan =
      placed_assignment(*work.models[group.index], work.plans[group.index][chosen],
                                 mapping.stages[group.index])
          .plan;
  result.plan.origin = work.origin_of(group.index);
  if (!work.system.board.empty())
    result.plan.plan = plan::simulated_where_not_here(result.plan.plan, work.board);
  return result;
}

deployment::Deployment mapped_deployment(const GraphWork& work,
                                         const MappingProblem& problem,
                                         const MappingReport& report) {
  deployment::Deployment result;
  result.system = work.system;
  result.board_name = work.board.name;
  result.board_hash = work.board_hash;
  result.method = report.name;
  result.contention =
      work.system.board.empty() ? deployment::Contention::alone : deployment::Contention::modelled;
  for (std::size_t g = 0; g < work.system.groups.size(); ++g)
    result.assignments.push_back(
        assignment_of(work, problem, report.found.mapping, system::GroupId(g)));
  make_space(result);
  add_settings(work, result);
  check(result, work.board);
  return result;
}

/// Empty: each group ends in time if it has the board for itself, everything where it is fastest.
std::string late_even_alone(const MappingProblem& problem) {
  const system::System& system = problem.system;
  if (const std::string overhead = too_long_overhead(system); !overhead.empty())
    return "no deployment: " + overhead;
  const Mapping fastest = fastest_mapping(problem);
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const system::GroupId group(g);
    const Time alone = alone_at_worst(grafted(problem, fastest, group));
    const Time by = alone - (deadline_of(system, group, system.levels - 1) - system.overhead);
    if (by > Time{})
      return fmt::format("no deployment: group '{}' takes up to {} by itself, which is {}",
                         system[group].name, millrace::to_text(alone),
                         beyond_deadline_text(system, group, by));
  }
  return {};
}

/// What needs the most of a processor in any scenario, and which one that is.
std::pair<double, std::string> busiest(const MappingProblem& problem,
                                       const Mapping& mapping) {
  std::pair<double, std::string> most{0, ""};
  for (const Scene& scene : scenes_of(problem.system)) {
    const auto shares = utilisations_of(problem, mapping, scene.groups);
    for (std::size_t p = 0; p < shares.size(); ++p)
      if (shares[p] > most.first) most = {shares[p], problem.board.processors[p].name};
  }
  return most;
}

std::string refusal_of(const MappingProblem& problem, const MappingResult& found,
                       double least) {
  if (found.value.feasible) return {};
  if (least > 1)
    return fmt::format(
        "no deployment: any mapping needs {:.1f} % of some processor; lower the "
        "rates",
        100 * least);
  if (std::string late = late_even_alone(problem); !late.empty()) return late;
  if (MappingEvaluator(problem).subnets_over(found.mapping) > 0)
    return "no deployment: a device has no room for the subnets of all networks";
  const auto [share, processor] = busiest(problem, found.mapping);
  return fmt::format(
      "no deployment: in the nearest mapping that was found group '{}' needs {:.0f} % of its "
      "deadline, and {} is busy for {:.0f} % of the time; lower the rates or search longer with "
      "⟨generations⟩",
      problem.system[found.value.tightest].name, std::min(99'999.0, 100 * found.value.demand),
      processor, 100 * share);
}

std::string method_names(bool mapping) {
  std::string names;
  const auto add = [&](const char* name) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  };
  if (mapping)
    for (const auto& method : mapping_methods()) add(method.name);
  else
    for (const auto& method : deploy_methods()) add(method.name);
  return names;
}

}  // namespace

bool has_task_graphs(const system::System& system) {
  return std::ranges::any_of(system.groups,
                             [](const system::Group& group) { return !group.graph.empty(); });
}

bool decides_by_mapping(const std::string& method, const system::System& system) {
  const bool has_graphs = has_task_graphs(system);
  if (method.empty()) return has_graphs;
  if (mapping_method_named(method) != nullptr) return true;
  if (deploy_method_named(method) == nullptr)
    throw InputError("⟨method⟩", fmt::format("'{}' is none of {}, {}", method,
                                             method_names(false), method_names(true)));
  if (has_graphs)
    throw InputError("⟨method⟩",
                     fmt::format("'{}' decides for networks only, and groups of '{}' have task "
                                 "graphs; use one of {}",
                                 method, system.name, method_names(true)));
  return false;
}

void deploy_graphs(const GraphWork& work, DeployResult& result) {
  const auto& methods = mapping_methods();
  const MappingMethod& asked = work.options.method.empty()
                                            ? methods.front()
                                            : *mapping_method_named(work.options.method);
  MappingProblem problem = mapping_problem(work.system, work.board, work.plans);
  problem.analysis = work.options.analysis;
  MappingReports& reports = result.mappings.emplace();
  reports.least_utilisation = least_utilisation(problem);
  reports.methods.push_back(run_mapping(work, problem, asked));
  for (const MappingMethod& other : methods)
    if (work.options.compare && &other != &asked)
      reports.methods.push_back(run_mapping(work, problem, other));
  if (work.options.exact)
    if (const auto best = exhaustive_mapping(problem, most_mapping_nodes))
      reports.least_by_trying = best->value.utilisation;
  const MappingReport& report = reports.methods.front();
  result.refusal = refusal_of(problem, report.found, reports.least_utilisation);
  if (result.refusal.empty()) result.deployment = mapped_deployment(work, problem, report);
}

}  // namespace millrace::explore
