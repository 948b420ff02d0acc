#include "explore/system/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/quantity.h"
#include "deployment/releases.h"
#include "explore/system/evaluator.h"
#include "explore/system/scene_system.h"
#include "realtime/utilisation.h"

namespace millrace::explore {
namespace {

deployment::Clocks clocks_of(const board::Board& board, const ClockLevels& levels) {
  deployment::Clocks clocks;
  for (std::size_t d = 0; d < board.devices.size(); ++d)
    if (!board.devices[d].clocks.empty())
      clocks[board.devices[d].name] = board.devices[d].clocks[levels[d]];
  return clocks;
}

std::vector<std::optional<Time>> bounds_of(const CombinationProblem& problem,
                                           const deployment::Deployment& deployment,
                                           const deployment::Operation& operation) {
  const realtime::TaskSystem tasks = task_system(deployment, problem.board, operation);
  const realtime::Bounds bounds = realtime::analyse(tasks, problem.analysis);
  std::vector<std::optional<Time>> result(problem.system.groups.size());
  const auto& groups = problem.system[operation.scenario].groups;
  for (std::size_t f = 0; f < groups.size(); ++f)
    result[groups[f].index] = judged(tasks.flows[f], bounds.flows[f]);
  return result;
}

/// Where the scene's tasks come closest to, or farthest beyond, a deadline.
struct WorstFlow {
  std::size_t flow = 0;
  double share = 0;  // bound / deadline
  Time bound{};
};

WorstFlow worst_flow(const realtime::TaskSystem& tasks, const realtime::Bounds& bounds) {
  WorstFlow worst;
  for (std::size_t f = 0; f < deployment::group_flows(tasks); ++f) {
    const Time bound = judged(tasks.flows[f], bounds.flows[f]);
    const double share = seconds(bound) / seconds(*tasks.flows[f].deadline);
    if (share > worst.share) worst = {f, share, bound};
  }
  return worst;
}

/// The resource with the most to do, among those that the flow uses.
std::string busiest_resource(const realtime::TaskSystem& tasks, const realtime::Flow& flow) {
  const std::vector<realtime::Utilisation> shares = realtime::utilisations(tasks);
  std::size_t busiest = tasks[flow.tasks.front()].resource.index;
  for (const realtime::TaskId task : flow.tasks)
    if (shares[tasks[task].resource.index].share > shares[busiest].share)
      busiest = tasks[task].resource.index;
  return fmt::format("'{}' is busy for {:.0f} % of the time", tasks.resources[busiest].name,
                     100 * shares[busiest].share);
}

}  // namespace

std::vector<deployment::Setting> settings_of(const CombinationProblem& given,
                                             const deployment::Deployment& deployment,
                                             const Combined& decided) {
  std::vector<deployment::Setting> settings;
  CombinationProblem problem = given;
  for (std::size_t s = 0; s < given.system.scenarios.size(); ++s)
    for (problem.level = 0; problem.level < given.system.levels; ++problem.level) {
      problem.scenes = {{given.system.scenarios[s].groups, 1}};
      const Combined found = assess(problem, decided.combination, decided.placement);
      if (!found.feasible) continue;
      deployment::Setting& setting = settings.emplace_back();
      setting.scenario = system::ScenarioId(s);
      setting.level = problem.level;
      setting.clocks = clocks_of(problem.board, found.scenes.front().clocks);
      setting.power_mw = found.power_mw;
      setting.bounds =
          bounds_of(problem, deployment, {setting.scenario, setting.level, setting.clocks});
    }
  return settings;
}

deployment::Assignment placed_assignment(const GroupModel& model, const GroupPlan& plan,
                                         const std::vector<std::size_t>& processors) {
  deployment::Assignment result = plan.assignment;
  std::map<std::string, std::string> instead;
  for (std::size_t t = 0; t < result.tasks.size(); ++t) {
    const std::string& now = model.board.processors[processors[t]].name;
    if (result.tasks[t].step == deployment::Step::phase) instead[result.tasks[t].processor] = now;
    result.tasks[t].processor = now;
  }
  Configuration configuration = plan.configuration;
  const auto& all = model.context.board.processors;
  for (ProcessorGroup& stage : configuration.stages)
    for (ProcessorId& processor : stage) {
      const auto found = instead.find(all[processor.index].name);
      if (found == instead.end()) continue;
      const auto at = std::ranges::find(all, found->second, &board::Processor::name);
      processor = ProcessorId(static_cast<std::size_t>(at - all.begin()));
    }
  Realised realised = realise(model.context, configuration);
  result.plan.plan = std::move(realised.plan);
  result.plan.evidence = std::move(realised.evidence);
  return result;
}

std::vector<std::int64_t> priorities_of(const system::System& system) {
  std::vector<std::size_t> open;
  std::optional<std::int64_t> least;
  std::vector<std::int64_t> result(system.groups.size(), 0);
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const auto& given = system.groups[g].priority;
    if (given) least = std::min(least.value_or(*given), *given);
    if (given)
      result[g] = *given;
    else
      open.push_back(g);
  }
  std::ranges::stable_sort(open, {}, [&](std::size_t g) {
    return deadline_of(system, system::GroupId(g), system.levels - 1);
  });
  std::int64_t next = least ? *least - 1 : static_cast<std::int64_t>(open.size());
  for (const std::size_t g : open) result[g] = next--;
  return result;
}

Time alone_at_worst(const deployment::Assignment& assignment) {
  std::vector<Time> ends;
  Time longest{};
  for (const deployment::Task& task : assignment.tasks) {
    Time begin{};
    for (const std::size_t before : task.after) begin = std::max(begin, ends[before]);
    ends.push_back(begin + task.worst);
    longest = std::max(longest, ends.back());
  }
  return longest;
}

std::string too_long_overhead(const system::System& system) {
  for (std::size_t g = 0; g < system.groups.size(); ++g) {
    const Time deadline = deadline_of(system, system::GroupId(g), system.levels - 1);
    if (system.overhead >= deadline)
      return fmt::format(
          "the controller's overhead_ms of {} leaves nothing of the deadline of {} of group '{}'; "
          "give a shorter overhead or a longer deadline",
          millrace::to_text(system.overhead), millrace::to_text(deadline), system.groups[g].name);
  }
  return {};
}

std::string too_short_deadline(const CombinationProblem& problem) {
  if (std::string overhead = too_long_overhead(problem.system); !overhead.empty()) return overhead;
  for (std::size_t g = 0; g < problem.plans.size(); ++g) {
    Time fastest = Time::max();
    for (const GroupPlan& plan : problem.plans[g])
      fastest = std::min(fastest, alone_at_worst(plan.assignment));
    const Time deadline = deadline_at(problem, system::GroupId(g));
    if (fastest <= deadline) continue;
    return fmt::format(
        "group '{}': its fastest plan takes up to {}, which is {}", problem.system.groups[g].name,
        millrace::to_text(fastest),
        beyond_deadline_text(problem.system, system::GroupId(g), fastest - deadline));
  }
  return {};
}

std::string beyond_deadline_text(const system::System& system, system::GroupId group, Time by) {
  std::string text = fmt::format("{} longer than its deadline of {}", millrace::to_text(by),
                                 millrace::to_text(deadline_of(system, group, system.levels - 1)));
  if (system.overhead > Time{})
    text += fmt::format(", less the controller's {}", millrace::to_text(system.overhead));
  return text + (system[group].deadline ? "; give it a longer deadline" : "; lower its rate");
}

std::string why_infeasible(const CombinationProblem& problem, const Combined& nearest) {
  if (nearest.scenes.empty())
    return "every combination of plans needs more subnets than the SDK of a device has room for";
  std::size_t worst = 0;
  for (std::size_t s = 0; s < nearest.scenes.size(); ++s)
    if (nearest.scenes[s].demand > nearest.scenes[worst].demand) worst = s;
  const Scene& scene = problem.scenes[worst];
  const std::string scenario = problem.scenes.size() == problem.system.scenarios.size()
                                   ? "scenario '" + problem.system.scenarios[worst].name + "'"
                                   : std::string("all groups at once");
  SceneSystem system(problem, scene, nearest.combination, nearest.placement);
  const realtime::TaskSystem& tasks = system.at_highest();
  const realtime::Bounds bounds = realtime::analyse(tasks, problem.analysis);
  const WorstFlow flow = worst_flow(tasks, bounds);
  const realtime::Flow& late = tasks.flows[flow.flow];
  const std::string bound =
      flow.bound == realtime::unbounded
          ? std::string("has no bound")
          : fmt::format("may take {}, which is {} longer than its deadline of {}",
                        millrace::to_text(flow.bound),
                        millrace::to_text(flow.bound - *late.deadline),
                        millrace::to_text(*late.deadline));
  return fmt::format(
      "{}: group '{}' {} with the nearest combination of plans; {}; ⟨max_rate⟩ finds rates that "
      "fit",
      scenario, late.name, bound, busiest_resource(tasks, late));
}

}  // namespace millrace::explore
