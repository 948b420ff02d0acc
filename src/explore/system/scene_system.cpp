#include "explore/system/scene_system.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "board/power.h"
#include "deployment/budgets.h"
#include "deployment/events.h"
#include "deployment/releases.h"
#include "explore/system/placement.h"

namespace millrace::explore {
namespace {

constexpr double most_demand = 1000;

double slowdown_at(const board::Device& device, std::size_t clock) {
  return device.clocks.empty() ? 1 : device.clocks.back().value / device.clocks[clock].value;
}

board::Megahertz clock_at(const board::Device& device, std::size_t clock) {
  return device.clocks.empty() ? board::highest_clock(device) : device.clocks[clock];
}

Time faster_by(Time time, double speed) {
  constexpr double longest = 1e15;  // of a system's file
  if (speed == 1) return time;
  return Time(static_cast<std::int64_t>(
      std::min(longest, std::floor(static_cast<double>(time.count()) / speed))));
}

/// What a task draws in addition, as a share of what the board says.
double draws(const deployment::Task& task, const board::Device& device) {
  const double usual = board::dynamic_power(device, board::highest_clock(device)).value;
  return task.busy && usual > 0 ? task.busy->value / usual : 1;
}

}  // namespace

std::size_t device_index(const board::Board& board, std::size_t processor) {
  const board::Device* device = device_of(board, board.processors[processor]);
  return device == nullptr ? board.devices.size()
                           : static_cast<std::size_t>(device - board.devices.data());
}

Time period_at(const CombinationProblem& problem, system::GroupId group) {
  return faster_by(period_of(problem.system, group, problem.level), problem.speed);
}

Time budget_every_at(const CombinationProblem& problem, system::GroupId group) {
  const system::Group& from = problem.system[group];
  return from.budget->every.value_or(period_at(problem, group) * from.events.burst);
}

Time deadline_at(const CombinationProblem& problem, system::GroupId group) {
  const std::optional<Time>& own = problem.system[group].deadline;
  const Time period = problem.system[group].events.aperiodic
                          ? budget_every_at(problem, group)
                          : period_at(problem, group) * problem.system[group].events.burst;
  return (own ? faster_by(*own, problem.tighter) : period) - problem.system.overhead;
}

std::vector<std::vector<double>> powers_of(const CombinationProblem& problem, const Scene& scene,
                                           const Combination& combination) {
  const board::Board& board = problem.board;
  std::map<std::string, std::size_t> device_of_name;
  std::vector<double> processors(board.devices.size(), 0), busy(board.devices.size(), 0);
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const std::size_t device = device_index(board, p);
    device_of_name[board.processors[p].name] = device;
    if (device < board.devices.size()) ++processors[device];
  }
  for (const system::GroupId group : scene.groups)
    for (const auto& task : problem.plans[group.index][combination[group.index]].assignment.tasks) {
      const std::size_t device = device_of_name.at(task.processor);
      if (device == board.devices.size()) continue;
      busy[device] += draws(task, board.devices[device]) * seconds(task.average) /
                      seconds(period_at(problem, group));
    }
  std::vector<std::vector<double>> result;
  for (std::size_t d = 0; d < board.devices.size(); ++d) {
    const board::Device& device = board.devices[d];
    std::vector<double>& at = result.emplace_back();
    for (std::size_t c = 0; c < std::max<std::size_t>(1, device.clocks.size()); ++c) {
      const board::Megahertz clock = clock_at(device, c);
      at.push_back(processors[d] * board::static_power(device, clock).value +
                   busy[d] * slowdown_at(device, c) * board::dynamic_power(device, clock).value);
    }
  }
  return result;
}

/// None: the group has none.
std::optional<deployment::FrameBudget> budget_at(const CombinationProblem& problem,
                                                 system::GroupId group,
                                                 const deployment::Assignment& assignment) {
  const std::optional<system::Budget>& budget = problem.system[group].budget;
  if (!budget) return std::nullopt;
  return deployment::frame_budget(*budget, budget_every_at(problem, group),
                                  deployment::worst_frame(assignment));
}

SceneSystem::SceneSystem(const CombinationProblem& problem, const Scene& scene,
                         const Combination& combination, const Placement& placement)
    : problem_(problem), slower_(problem.board.devices.size() + 1, 1.0) {
  for (const board::Processor& processor : problem.board.processors) {
    system_.add_resource({.name = processor.name,
                          .policy = deployment::policy_of(device_of(problem.board, processor))});
    processors_.push_back(processors_.size());
  }
  for (const system::GroupId group : scene.groups)
    add_group(group, problem.plans[group.index][combination[group.index]].assignment,
              placement[group.index]);
  add_releases();
}

void SceneSystem::add_group(system::GroupId group, const deployment::Assignment& assignment,
                            const std::vector<std::size_t>& placed) {
  realtime::Flow flow;
  flow.name = problem_.system[group].name;
  flow.events = deployment::event_model(problem_.system[group].events, period_at(problem_, group));
  flow.deadline = deadline_at(problem_, group);
  const bool may_overlap =
      !problem_.system[group].events.aperiodic &&
      flow.events.events_within(*flow.deadline + problem_.system.overhead) > 1;
  const auto budget = budget_at(problem_, group, assignment);
  if (budget) deployment::limit_flow(flow, problem_.system[group], *budget);
  const realtime::FlowId id = system_.add_flow(std::move(flow));
  const std::size_t first = system_.tasks.size();
  has_no_analysis_ =
      has_no_analysis_ || (may_overlap && deployment::has_stage_of_several_phases(assignment));
  for (std::size_t t = 0; t < assignment.tasks.size(); ++t) {
    const deployment::Task& task = assignment.tasks[t];
    realtime::Task added{.name = problem_.system[group].name + "." + task.name,
                         .resource = resource_of(placed[t], group)};
    added.priority = assignment.priority;
    for (const std::size_t before : task.after)
      added.after.push_back(realtime::TaskId(first + before));
    system_.add_task(id, std::move(added));
    const deployment::Task* source =
        budget ? &grown_.emplace_back(deployment::grown(task, budget->growth)) : &task;
    sources_.push_back(
        {source, device_index(problem_.board, processor_like(problem_.board, placed[t]))});
    set_times(sources_.size() - 1, 1);
  }
}

void SceneSystem::add_releases() {
  release_.worst = problem_.system.release_cost;
  std::vector<Time> costs;
  for (const board::Processor& processor : problem_.board.processors)
    costs.push_back(processor.kind == board::ProcessorKind::cpu ? release_.worst : Time{});
  deployment::add_releases(system_, costs);
  while (sources_.size() < system_.tasks.size()) {
    const realtime::ResourceId resource = system_.tasks[sources_.size()].resource;
    sources_.push_back({&release_, device_index(problem_.board, processors_[resource.index])});
  }
}

realtime::ResourceId SceneSystem::resource_of(std::size_t placed, system::GroupId group) {
  const std::size_t processor = processor_like(problem_.board, placed);
  if (placed == processor) return realtime::ResourceId(processor);
  const auto [at, is_new] =
      own_cores_.try_emplace({group.index, placed}, realtime::ResourceId(system_.resources.size()));
  if (is_new) {
    realtime::Resource own = system_.resources[processor];
    own.name += " of " + problem_.system[group].name + ", " + std::to_string(placed);
    system_.add_resource(std::move(own));
    processors_.push_back(processor);
  }
  return at->second;
}

void SceneSystem::set_times(std::size_t index, double slower) {
  const deployment::Task& from = *sources_[index].task;
  realtime::Task& to = system_.tasks[index];
  to.best = deployment::stretched(from.best, slower);
  to.worst = deployment::stretched(from.worst, slower);
  if (from.kernels.size() < 2) return;
  to.kernels.resize(from.kernels.size());
  to.worst = {};
  for (std::size_t k = 0; k < from.kernels.size(); ++k) {
    to.kernels[k] = deployment::stretched(from.kernels[k], slower);
    to.worst += to.kernels[k];
  }
}

const realtime::TaskSystem& SceneSystem::at(const ClockLevels& clocks) {
  for (std::size_t d = 0; d < clocks.size(); ++d) {
    const double slower = slowdown_at(problem_.board.devices[d], clocks[d]);
    if (slower == slower_[d]) continue;
    slower_[d] = slower;
    for (std::size_t t = 0; t < sources_.size(); ++t)
      if (sources_[t].device == d) set_times(t, slower);
  }
  return system_;
}

/// Even without any interference; much sooner known than by the analysis.
bool SceneSystem::is_hopeless() const {
  if (has_no_analysis_) return true;
  std::vector<double> load(system_.resources.size(), 0);
  std::vector<Time> ends(system_.tasks.size());
  for (const realtime::Flow& flow : system_.flows) {
    const Time deadline = flow.deadline.value_or(Time::max());
    if (deadline <= Time{}) return true;
    for (const realtime::TaskId id : flow.tasks) {
      const realtime::Task& task = system_[id];
      Time begin{};
      for (const realtime::TaskId before : task.after) begin = std::max(begin, ends[before.index]);
      if ((ends[id.index] = begin + task.worst) > deadline) return true;
      const realtime::EventModel events =
          flow.limit ? realtime::limited_events(*flow.limit) : flow.events;
      load[task.resource.index] +=
          seconds(task.worst) * static_cast<double>(events.burst) / seconds(events.period);
    }
  }
  return std::ranges::any_of(load, [](double share) { return share > 1 + 1e-9; });
}

realtime::AnalysisOptions SceneSystem::options() const {
  realtime::AnalysisOptions options = problem_.analysis;
  if (!problem_.thorough) options.splits = realtime::PathSplits::never;
  return options;
}

bool SceneSystem::is_schedulable(const ClockLevels& clocks) {
  at(clocks);
  if (is_hopeless()) return false;
  return realtime::keeps_deadlines(system_, options());
}

const realtime::TaskSystem& SceneSystem::at_highest() {
  ClockLevels highest;
  for (const board::Device& device : problem_.board.devices)
    highest.push_back(device.clocks.empty() ? 0 : device.clocks.size() - 1);
  return at(highest);
}

double SceneSystem::demand() {
  if (has_no_analysis_) return most_demand;
  at_highest();
  const realtime::Bounds bounds = realtime::analyse(system_, options());
  double result = 0;
  for (std::size_t f = 0; f < deployment::group_flows(system_); ++f) {
    const realtime::Flow& flow = system_.flows[f];
    const Time bound = judged(flow, bounds.flows[f]);
    if (bound == realtime::unbounded || *flow.deadline <= Time{}) return most_demand;
    result = std::max(result, seconds(bound) / seconds(*flow.deadline));
  }
  return std::min(result, most_demand);
}

}  // namespace millrace::explore
