#include "realtime/analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "realtime/fixpoint.h"

namespace millrace::realtime {
namespace {

TaskBound bound_of(const TaskState& state, const Task& task) {
  return {.response = state.window.response,
          .completion = state.completion,
          .best_completion = plus(state.earliest, task.best),
          .activations = state.arrivals,
          .finishes = state.window.finishes};
}

FlowBound bound_of(const TaskSystem& system, FlowId id, const Fixpoint& fixpoint) {
  FlowBound bound;
  std::vector<Time> sums(system.tasks.size());
  for (TaskId task : fixpoint.structure().order[id.index]) {
    const TaskState& state = fixpoint.state(task);
    bound.response = std::max(bound.response, state.done);
    bound.completion = std::max(bound.completion, state.completion);
    bound.best = std::max(bound.best, state.earliest + system[task].best);
    Time& sum = sums[task.index];
    sum = system[task].offset;
    for (TaskId first : system[task].after) sum = std::max(sum, sums[first.index]);
    sum = sum == unbounded || state.endless ? unbounded : plus(sum, state.window.response);
    bound.path_sum = std::max(bound.path_sum, sum);
  }
  const Time jitter = system[id].events.jitter;
  bound.best = std::max(Time{}, bound.best - jitter);
  return bound;
}

bool can_delay(const TaskSystem& system, TaskId interferer, TaskId task) {
  const SchedulingPolicy policy = system[system[task].resource].policy;
  if (policy == SchedulingPolicy::table) return false;
  const bool by_priority = policy == SchedulingPolicy::fixed_priority ||
                           policy == SchedulingPolicy::fixed_priority_nonpreemptive;
  return !by_priority || system[interferer].priority >= system[task].priority;
}

/// A task whose activations changed, on whom the change of `task` rests.
TaskId cause_of(const TaskSystem& system, const Structure& structure, TaskId task,
                const std::vector<bool>& changed) {
  for (TaskId first : system[task].after)
    if (changed[first.index]) return first;
  for (TaskId interferer : structure.on[system[task].resource.index])
    if (interferer != task && changed[interferer.index] && can_delay(system, interferer, task))
      return interferer;
  return task;
}

/// Among those that changed, from this one on.
std::vector<TaskId> circle_from(TaskId task, const TaskSystem& system, const Structure& structure,
                                const std::vector<bool>& changed) {
  std::vector<TaskId> path;
  while (std::find(path.begin(), path.end(), task) == path.end()) {
    path.push_back(task);
    task = cause_of(system, structure, task, changed);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), task));
  return path;
}

std::vector<TaskId> circle_of(const TaskSystem& system, const Structure& structure,
                              const std::vector<bool>& changed) {
  const auto first = std::find(changed.begin(), changed.end(), true);
  return circle_from(TaskId(static_cast<std::size_t>(first - changed.begin())), system, structure,
                     changed);
}

/// All that depends on tasks whose bounds still grow.
void spread(const TaskSystem& system, const Structure& structure, std::vector<bool>& growing) {
  std::vector<TaskId> open;
  for (std::size_t t = 0; t < growing.size(); ++t)
    if (growing[t]) open.push_back(TaskId(t));
  const auto add = [&](TaskId task) {
    if (!growing[task.index]) open.push_back(task);
    growing[task.index] = true;
  };
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    for (TaskId later : structure.successors[task.index]) add(later);
    for (TaskId other : structure.on[system[task].resource.index])
      if (can_delay(system, task, other)) add(other);
  }
}

void mark_unsettled(const TaskSystem& system, const Fixpoint& fixpoint, std::vector<bool> changed,
                    Bounds& bounds) {
  bounds.unsettled = circle_of(system, fixpoint.structure(), changed);
  spread(system, fixpoint.structure(), changed);
  for (std::size_t t = 0; t < changed.size(); ++t)
    if (changed[t]) bounds.tasks[t].response = bounds.tasks[t].completion = unbounded;
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    for (TaskId task : system.flows[f].tasks)
      if (changed[task.index]) {
        FlowBound& bound = bounds.flows[f];
        bound.response = bound.completion = bound.path_sum = unbounded;
      }
}

std::vector<bool> endless_tasks(const TaskSystem& system, const Fixpoint& fixpoint) {
  std::vector<bool> result;
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    result.push_back(fixpoint.state(TaskId(t)).endless);
  return result;
}

/// From the flow's first task without bound to where the rule gave up.
NoBound reason_of(const TaskSystem& system, FlowId flow, const Fixpoint& fixpoint,
                  const Bounds& bounds) {
  const auto& order = fixpoint.structure().order[flow.index];
  NoBound reason{.chain = {*std::ranges::find_if(order, [&](TaskId task) {
                   return bounds.tasks[task.index].response == unbounded;
                 })}};
  std::optional<EndlessCause> cause = fixpoint.cause(reason.last());
  while (cause && cause->by.valid()) {
    reason.chain.push_back(cause->by);
    cause = fixpoint.cause(cause->by);
  }
  reason.rule = cause ? cause->rule : NoBoundRule::rounds;
  if (reason.rule == NoBoundRule::rounds) {
    reason.circle = bounds.unsettled;
    const bool is_in = std::ranges::find(reason.circle, reason.last()) != reason.circle.end();
    if (!is_in) reason.chain.push_back(reason.circle.front());
  }
  if (reason.rule == NoBoundRule::growth)
    reason.circle = circle_from(reason.last(), system, fixpoint.structure(),
                                endless_tasks(system, fixpoint));
  return reason;
}

void add_reasons(const TaskSystem& system, const Fixpoint& fixpoint, Bounds& bounds) {
  bounds.reasons.resize(system.flows.size());
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    if (bounds.flows[f].response == unbounded)
      bounds.reasons[f] = reason_of(system, FlowId(f), fixpoint, bounds);
}

Time horizon_of(const TaskSystem& system, const AnalysisOptions& options) {
  Time longest{};
  for (const Flow& flow : system.flows)
    longest = std::max(longest, flow.events.period + flow.events.jitter);
  for (const Task& task : system.tasks) longest = std::max(longest, task.worst + task.offset);
  return times(longest, options.most_periods);
}

bool is_late(const TaskSystem& system, const Fixpoint& fixpoint) {
  for (const Flow& flow : system.flows)
    for (TaskId task : flow.tasks) {
      const TaskState& state = fixpoint.state(task);
      const Time end = flow.deadline_from_due ? state.completion : state.done;
      if (flow.deadline && end > *flow.deadline) return true;
      if (system[task].deadline && state.window.response > *system[task].deadline) return true;
    }
  return false;
}

/// From round to round, bounds only grow.
bool stays_in_time(const TaskSystem& system, const AnalysisOptions& options) {
  Fixpoint fixpoint(system, options, horizon_of(system, options));
  std::vector<bool> changed(system.tasks.size(), false);
  for (int round = 0; round < options.most_rounds; ++round) {
    const bool goes_on = fixpoint.round(changed);
    if (is_late(system, fixpoint)) return false;
    if (!goes_on) return true;
  }
  return false;
}

Bounds settled_bounds(const TaskSystem& system, const AnalysisOptions& options) {
  Fixpoint fixpoint(system, options, horizon_of(system, options));
  Bounds bounds;
  std::vector<bool> changed(system.tasks.size(), false);
  bool settled = false;
  while (!settled && bounds.rounds < options.most_rounds) {
    ++bounds.rounds;
    settled = !fixpoint.round(changed);
  }
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    bounds.tasks.push_back(bound_of(fixpoint.state(TaskId(t)), system.tasks[t]));
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    bounds.flows.push_back(bound_of(system, FlowId(f), fixpoint));
  if (!settled)
    mark_unsettled(system, fixpoint, changed, bounds);
  else if (fixpoint.has_passed_horizon())
    bounds.unsettled =
        circle_of(system, fixpoint.structure(), endless_tasks(system, fixpoint));
  add_reasons(system, fixpoint, bounds);
  return bounds;
}

/// Without limits.
Bounds bounds_of(const TaskSystem& system, const AnalysisOptions& options) {
  if (options.splits == PathSplits::always) return settled_bounds(system, options);
  AnalysisOptions quick = options;
  quick.splits = PathSplits::never;
  Bounds bounds = settled_bounds(system, quick);
  if (options.splits == PathSplits::never || is_schedulable(system, bounds)) return bounds;
  quick.splits = PathSplits::always;
  return settled_bounds(system, quick);
}

/// What is lower of two analyses: with all that its limit allows, and with what comes.
void lower(const TaskSystem& system, FlowId flow, const Bounds& other, Bounds& bounds) {
  FlowBound& bound = bounds.flows[flow.index];
  const FlowBound& of_other = other.flows[flow.index];
  bound.response = std::min(bound.response, of_other.response);
  bound.path_sum = std::min(bound.path_sum, of_other.path_sum);
  if (bound.response != unbounded) bounds.reasons[flow.index].reset();
  for (const TaskId task : system[flow].tasks)
    if (other.tasks[task.index].response < bounds.tasks[task.index].response)
      bounds.tasks[task.index] = other.tasks[task.index];
}

Time held(Time bound, Time hold) {
  return bound == unbounded || hold == unbounded ? unbounded : plus(bound, hold);
}

/// Activations wait before their tasks do anything.
void add_hold(const TaskSystem& system, FlowId id, Bounds& bounds) {
  const Flow& flow = system[id];
  FlowBound& bound = bounds.flows[id.index];
  bound.held = longest_hold(flow.events, *flow.limit);
  bound.response = held(bound.response, bound.held);
  bound.path_sum = held(bound.path_sum, bound.held);
  bound.completion = held(bound.response, flow.events.jitter);
  for (const TaskId task : flow.tasks) {
    Time& completion = bounds.tasks[task.index].completion;
    completion = held(held(completion, bound.held), flow.events.jitter);
  }
  if (bound.held == unbounded)
    bounds.reasons[id.index] = {NoBoundRule::limit, {flow.tasks.front()}};
}

}  // namespace

Bounds analyse(const TaskSystem& system, const AnalysisOptions& options) {
  check(system);
  if (!has_limits(system)) return bounds_of(system, options);
  Bounds bounds = bounds_of(without_limits(system), options);
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    if (!system.flows[f].limit) continue;
    lower(system, FlowId(f), bounds_of(without_limits(system, FlowId(f)), options), bounds);
    add_hold(system, FlowId(f), bounds);
  }
  return bounds;
}

Time judged(const Flow& flow, const FlowBound& bound) {
  return flow.deadline_from_due ? bound.completion : bound.response;
}

bool is_schedulable(const TaskSystem& system, const Bounds& bounds) {
  for (std::size_t t = 0; t < system.tasks.size(); ++t)
    if (system.tasks[t].deadline && bounds.tasks[t].response > *system.tasks[t].deadline)
      return false;
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    if (system.flows[f].deadline &&
        judged(system.flows[f], bounds.flows[f]) > *system.flows[f].deadline)
      return false;
  return true;
}

bool keeps_deadlines(const TaskSystem& system, const AnalysisOptions& options) {
  check(system);
  if (has_limits(system))
    return keeps_deadlines(without_limits(system), options) ||
           is_schedulable(system, analyse(system, options));
  AnalysisOptions now = options;
  now.splits = PathSplits::never;
  if (options.splits != PathSplits::always && stays_in_time(system, now)) return true;
  if (options.splits == PathSplits::never) return false;
  now.splits = PathSplits::always;
  return stays_in_time(system, now);
}

std::string unsettled_text(const TaskSystem& system, const Bounds& bounds) {
  std::string names;
  for (TaskId task : bounds.unsettled)
    names += fmt::format("{}'{}' on '{}'", names.empty() ? "" : ", ", system[task].name,
                         system[system[task].resource].name);
  return fmt::format(
      "the event models do not settle: each activation of {} delays the next ones "
      "without end; lower the load or use the priorities in the order of the flow",
      names);
}

}  // namespace millrace::realtime
