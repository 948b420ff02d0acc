#include "realtime/fixpoint.h"

#include <algorithm>
#include <limits>

#include "realtime/equations.h"

namespace millrace::realtime {
namespace {

const PolicyRule& rule_for(const Resource& resource, const AnalysisOptions& options) {
  const bool is_queue = resource.policy == SchedulingPolicy::fifo ||
                        resource.policy == SchedulingPolicy::fifo_by_kernel;
  if (is_queue && options.queues != Equation::none) return rule_of(options.queues);
  if (resource.policy == SchedulingPolicy::fixed_priority && options.priorities != Equation::none)
    return rule_of(options.priorities);
  return rule_of(resource.policy);
}

}  // namespace

Fixpoint::Fixpoint(const TaskSystem& system, const AnalysisOptions& options, Time horizon)
    : system_(system),
      options_(options),
      structure_(structure_of(system)),
      views_(system.tasks.size()),
      rivals_(system.tasks.size()),
      states_(system.tasks.size()),
      causes_(system.tasks.size()),
      paths_(system, structure_, options.splits != PathSplits::never),
      visits_(system, structure_),
      horizon_(horizon) {
  for (const Task& task : system.tasks) kernels_.emplace_back(task);
  for (std::size_t t = 0; t < system.tasks.size(); ++t) prepare(TaskId(t));
}

void Fixpoint::prepare(TaskId task) {
  LocalView& view = views_[task.index];
  const FlowId flow = structure_.flow_of[task.index];
  EventModel& arrivals = states_[task.index].arrivals;
  arrivals = system_[flow].events;
  arrivals.jitter = Time{};  // so far; it only grows, and the distance only shrinks
  arrivals.min_distance = arrivals.due_distance(2);
  view.id = task;
  view.task = &system_[task];
  view.resource = &system_[view.task->resource];
  view.kernels = &kernels_[task.index];
  view.deadline = scheduling_deadline(*view.task, system_[flow]);
  view.whole_ticks = options_.whole_ticks;
  for (TaskId other : structure_.on[view.task->resource.index]) {
    if (other == task) continue;
    const FlowId other_flow = structure_.flow_of[other.index];
    rivals_[task.index].push_back(other);
    const bool is_same_flow = flow == other_flow && options_.precedence;
    view.shares_flow = view.shares_flow || is_same_flow;
    view.interferers.push_back(
        {.task = &system_[other],
         .kernels = &kernels_[other.index],
         .deadline = scheduling_deadline(system_[other], system_[other_flow]),
         .same_flow = flow == other_flow,
         .jobs_of_flow = {.same_flow = is_same_flow, .events = &system_[flow].events}});
  }
}

bool Fixpoint::round(std::vector<bool>& changed) {
  bool any = false;
  for (const auto& order : structure_.order)
    for (TaskId task : order) {
      changed[task.index] = step(task);
      any = any || changed[task.index];
    }
  return any;
}

bool Fixpoint::step(TaskId task) {
  TaskState next;
  std::optional<EndlessCause> cause;
  activate(task, next);
  if (next.endless) cause = {NoBoundRule::growth, first_endless(task)};
  if (!next.endless && next.latest > horizon_) {
    next.endless = has_passed_horizon_ = true;
    cause = {NoBoundRule::growth, {}};
  }
  if (!next.endless) {
    update_view(task, next);
    next.window = window_of(views_[task.index], system_[structure_.flow_of[task.index]].events);
    next.endless = next.window.response == unbounded;
    if (next.endless) cause = cause_in_window(task);
  }
  if (!causes_[task.index]) causes_[task.index] = cause;
  finish(task, next);
  const bool is_new = next != states_[task.index];
  states_[task.index] = std::move(next);
  return is_new;
}

/// The first without a bound among those that the task waits for.
TaskId Fixpoint::first_endless(TaskId task) const {
  return *std::ranges::find_if(system_[task].after, [this](TaskId first) {
    return states_[first.index].endless;
  });
}

/// The task's view is that of the window.
EndlessCause Fixpoint::cause_in_window(TaskId task) const {
  const LocalView& view = views_[task.index];
  const PolicyRule& rule = rule_for(*view.resource, options_);
  for (std::size_t r = 0; r < view.interferers.size(); ++r)
    if (view.interferers[r].endless && rule.competes(view, view.interferers[r]))
      return {NoBoundRule::growth, rivals_[task.index][r]};
  return {is_overloaded(view, rule) ? NoBoundRule::overload : NoBoundRule::window, {}};
}

/// Two bounds hold: one that knows the order of the flow's tasks, and one that takes them as
/// independent, which is lower where the former looks at a longer window.
WindowBound Fixpoint::window_of(LocalView& view, const EventModel& events) const {
  const PolicyRule& rule = rule_for(*view.resource, options_);
  WindowBound bound = busy_window(view, rule, events);
  if (!view.shares_flow) return bound;
  LocalView independent = view;
  independent.shares_flow = false;
  for (InterferingTask& interferer : independent.interferers)
    interferer.jobs_of_flow.same_flow = false;
  const WindowBound other = busy_window(independent, rule, events);
  if (other.response < bound.response) bound.finishes = other.finishes;
  bound.response = std::min(bound.response, other.response);
  bound.after_due = std::min(bound.after_due, other.after_due);
  bound.after_source = std::min(bound.after_source, other.after_source);
  bound.least_gap = bound.least_gap == unbounded   ? other.least_gap
                    : other.least_gap == unbounded ? bound.least_gap
                                                   : std::max(bound.least_gap, other.least_gap);
  return bound;
}

void Fixpoint::activate(TaskId id, TaskState& state) const {
  const Task& task = system_[id];
  const EventModel& events = system_[structure_.flow_of[id.index]].events;
  state.arrivals = events;
  if (task.after.empty()) {
    state.earliest = task.offset;
    state.latest = std::max(events.jitter, task.offset);
    state.since_source = task.offset;
    if (task.offset > Time{}) state.arrivals.min_distance = Time{};
  } else {
    Time distance = unbounded;
    for (TaskId first : task.after) {
      const TaskState& before = states_[first.index];
      state.endless = state.endless || before.endless;
      state.earliest = std::max(state.earliest, before.earliest + system_[first].best);
      state.earliest_since_source =
          std::max(state.earliest_since_source, before.earliest_since_source + system_[first].best);
      state.latest = std::max(state.latest, before.completion);
      state.since_source = std::max(state.since_source, before.done);
      distance = std::min(distance, before.end_distance);
    }
    state.earliest = std::max(state.earliest, task.offset);
    state.latest = std::max(state.latest, task.offset);
    state.since_source = std::max(state.since_source, task.offset);
    state.arrivals.min_distance = std::min(distance, events.due_distance(2));
  }
  state.earliest_since_source = std::max(state.earliest_since_source, task.offset - events.jitter);
  const TaskState& before = states_[id.index];
  state.latest = std::max(state.latest, before.latest);
  state.since_source = std::max(state.since_source, before.since_source);
  if (before.arrivals.min_distance < state.arrivals.min_distance)
    state.arrivals.min_distance = before.arrivals.min_distance;
  if (!state.endless) state.arrivals.jitter = state.latest - state.earliest;
}

void Fixpoint::update_view(TaskId task, const TaskState& state) {
  LocalView& view = views_[task.index];
  view.arrivals = state.arrivals;
  for (std::size_t r = 0; r < view.interferers.size(); ++r) {
    InterferingTask& interferer = view.interferers[r];
    const TaskId other = rivals_[task.index][r];
    const TaskState& known = states_[other.index];
    interferer.arrivals = known.arrivals;
    interferer.response = known.window.response;
    interferer.endless = known.endless;
    if (interferer.jobs_of_flow.same_flow && !known.endless)
      update_same_flow(task, state, other, interferer.jobs_of_flow);
  }
  const TaskState& own = states_[task.index];
  if (view.shares_flow)
    view.most_pending =
        own.endless ? std::numeric_limits<std::int64_t>::max() : 1 + late_jobs(task, own, state);
}

/// How many earlier activations may not have ended `other`, of the same flow, when `state`'s task
/// is activated.
std::int64_t Fixpoint::late_jobs(TaskId task, const TaskState& other,
                                 const TaskState& state) const {
  const EventModel& events = system_[structure_.flow_of[task.index]].events;
  const Time late = other.done - state.earliest_since_source;
  return std::max<std::int64_t>(1, events.events_within(late)) - 1;
}

void Fixpoint::update_same_flow(TaskId task, const TaskState& state, TaskId other,
                                SameFlowJobs& jobs_of_flow) const {
  const TaskState& known = states_[other.index];
  const bool is_before = structure_.is_before(other, task);
  const bool is_after = structure_.is_before(task, other);
  jobs_of_flow.earlier = is_before ? 0 : late_jobs(task, known, state);
  jobs_of_flow.same = is_before || is_after ? 0 : 1;
  if (!is_after) jobs_of_flow.lead = state.since_source - known.earliest_since_source;
}

/// Unless a classical analysis is asked for: bounds along the flow's paths where they are lower.
void Fixpoint::undercut(TaskId id, TaskState& state) {
  if (options_.propagation != Propagation::windows || !options_.precedence ||
      options_.priorities != Equation::none || options_.queues != Equation::none)
    return;
  const PathBound bound = paths_.of(id, states_, state);
  state.window.response = std::min(state.window.response, bound.response);
  state.completion = std::min(state.completion, bound.completion);
  state.done = std::min(state.done, bound.done);
  if (state.done <= system_[structure_.flow_of[id.index]].events.period) return;
  const PathBound visit = visits_.of(id, states_, state);
  state.window.response = std::min(state.window.response, visit.response);
  state.completion = std::min(state.completion, visit.completion);
  state.done = std::min(state.done, visit.done);
}

void Fixpoint::finish(TaskId id, TaskState& state) {
  if (state.endless) {
    state.window.response = state.completion = state.done = unbounded;
    return;
  }
  const Time best = system_[id].best;
  const WindowBound& window = state.window;
  const bool exact = options_.propagation == Propagation::windows;
  state.completion = plus(state.latest, exact ? window.after_due : window.response);
  state.done = plus(state.since_source, exact ? window.after_source : window.response);
  if (exact)
    state.end_distance = std::max(best, window.least_gap + best);
  else if (options_.propagation == Propagation::jitter_and_distance)
    state.end_distance = std::max(best, state.arrivals.min_distance - (window.response - best));
  undercut(id, state);
  const TaskState& before = states_[id.index];
  if (before.window.response == Time{}) return;
  state.window.response = std::max(state.window.response, before.window.response);
  state.completion = std::max(state.completion, before.completion);
  state.done = std::max(state.done, before.done);
  state.end_distance = std::min(state.end_distance, before.end_distance);
}

}  // namespace millrace::realtime
