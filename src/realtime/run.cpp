#include "realtime/run.h"

#include <algorithm>
#include <numeric>

namespace millrace::realtime {
namespace {

bool is_preemptive(SchedulingPolicy policy) {
  return policy == SchedulingPolicy::fixed_priority || policy == SchedulingPolicy::edf ||
         policy == SchedulingPolicy::table;
}

bool runs_whole_jobs(SchedulingPolicy policy) {
  return policy == SchedulingPolicy::fifo || policy == SchedulingPolicy::edf_nonpreemptive;
}

Time below(Random& random, Time bound) {
  return Time(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound.count()))));
}

}  // namespace

Run::Run(const TaskSystem& system, const Structure& structure, const Scenario& scenario,
         Trace* trace)
    : system_(system),
      structure_(structure),
      scenario_(scenario),
      trace_(trace),
      random_(scenario.seed),
      flows_(system.flows.size()),
      place_(system.tasks.size()),
      resources_(system.resources.size()) {
  for (std::size_t f = 0; f < flows_.size(); ++f) choose_events(FlowId(f));
  for (std::size_t r = 0; r < resources_.size(); ++r)
    resources_[r].table_phase = scenario.table_phases[r];
  result_.tasks.resize(system.tasks.size());
  result_.flows.resize(system.flows.size());
  result_.completions.resize(system.flows.size());
}

Time Run::lateness_of(FlowId flow, std::int64_t event) {
  const Time jitter = system_[flow].events.jitter;
  const Scenario::FlowChoice& choice = scenario_.flows[flow.index];
  switch (choice.lateness) {
    case Scenario::Lateness::none:
      return {};
    case Scenario::Lateness::all:
      return jitter;
    case Scenario::Lateness::first_late:
      return event <= choice.critical_event ? jitter : Time{};
    case Scenario::Lateness::any:
      break;
  }
  return below(random_, jitter + Time{1});
}

void Run::choose_events(FlowId id) {
  const Flow& flow = system_[id];
  FlowState& state = flows_[id.index];
  const EventModel& events = flow.events;
  Time due = scenario_.flows[id.index].phase;
  const bool drifts =
      events.sporadic && scenario_.flows[id.index].lateness == Scenario::Lateness::any;
  for (std::int64_t n = 0; due <= scenario_.flows[id.index].phase + scenario_.span; ++n) {
    Arrival arrival{due, due + lateness_of(id, n), {}};
    if (!state.events.empty())
      arrival.comes = std::max(arrival.comes, state.events.back().comes + events.min_distance);
    state.events.push_back(arrival);
    due += n % events.burst == events.burst - 1
               ? events.period - events.burst_distance * (events.burst - 1)
               : events.burst_distance;
    if (drifts) due += below(random_, events.period / 4 + Time{1});
  }
  hold_events(id);
  for (std::size_t t = 0; t < flow.tasks.size(); ++t) place_[flow.tasks[t].index] = t;
  state.unfinished.assign(state.events.size(), flow.tasks.size());
  for (std::size_t n = 0; n < state.events.size(); ++n)
    for (TaskId task : flow.tasks) state.open.push_back(system_[task].after.size());
}

void Run::hold_events(FlowId id) {
  const std::optional<ActivationLimit>& limit = system_[id].limit;
  std::vector<Arrival>& events = flows_[id.index].events;
  for (std::size_t n = 0; n < events.size(); ++n) {
    events[n].begins = events[n].comes;
    if (!limit || n < static_cast<std::size_t>(limit->events)) continue;
    const Arrival& before = events[n - static_cast<std::size_t>(limit->events)];
    events[n].begins = std::max(events[n].comes, before.begins + limit->every);
  }
}

std::size_t Run::open_index(FlowId flow, TaskId task, std::int64_t event) const {
  return static_cast<std::size_t>(event) * system_[flow].tasks.size() + place_[task.index];
}

ScenarioResult Run::result(std::int64_t most_work) {
  constexpr int most_steps = 2'000'000;  // what is not done by then is not counted
  int steps = 0;
  for (Time now = next_time(); now != Time::max() && ++steps < most_steps && work_ < most_work;
       now = next_time()) {
    end_pieces(now);
    activate_flows(now);
    release_due(now);
    for (std::size_t r = 0; r < resources_.size(); ++r) dispatch(ResourceId(r), now);
  }
  return std::move(result_);
}

Time Run::next_time() const {
  Time next = Time::max();
  for (const FlowState& flow : flows_)
    if (flow.next < flow.events.size()) next = std::min(next, flow.events[flow.next].begins);
  for (const Release& release : releases_) next = std::min(next, release.at);
  for (const ResourceState& resource : resources_) next = std::min(next, resource.piece_end);
  return next;
}

void Run::activate_flows(Time now) {
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    FlowState& flow = flows_[f];
    for (; flow.next < flow.events.size() && flow.events[flow.next].begins == now; ++flow.next)
      activate(FlowId(f), static_cast<std::int64_t>(flow.next), now);
  }
}

void Run::activate(FlowId flow, std::int64_t event, Time now) {
  for (TaskId task : system_[flow].tasks)
    if (system_[task].after.empty()) release_or_wait(task, event, now);
}

void Run::release_or_wait(TaskId task, std::int64_t event, Time now) {
  const FlowId flow = structure_.flow_of[task.index];
  const Arrival& arrival = flows_[flow.index].events[static_cast<std::size_t>(event)];
  const Time from = system_[flow].limit ? arrival.begins : arrival.due;
  const Time at = from + system_[task].offset;
  if (at > now)
    releases_.push_back({at, task, event});
  else
    release(task, event, now);
}

void Run::release_due(Time now) {
  for (std::size_t r = 0; r < releases_.size();) {
    if (releases_[r].at != now) {
      ++r;
      continue;
    }
    const Release due = releases_[r];
    releases_.erase(releases_.begin() + static_cast<std::ptrdiff_t>(r));
    release(due.task, due.event, now);
  }
}

void Run::release(TaskId id, std::int64_t event, Time now) {
  const Task& task = system_[id];
  const Flow& flow = system_[structure_.flow_of[id.index]];
  TaskJob job{.task = id,
              .event = event,
              .activated = now,
              .due_end = now + scheduling_deadline(task, flow),
              .queued = now,
              .order = random_.below(2) == 0 ? random_.below(first_queued) : ++queued_,
              .kernels = kernels_of(id, event)};
  resources_[task.resource.index].ready.push_back(std::move(job));
}

std::vector<Time> Run::kernels_of(TaskId id, std::int64_t event) {
  const Task& task = system_[id];
  std::vector<Time> kernels(task.kernels.rbegin(), task.kernels.rend());
  if (kernels.empty() || runs_whole_jobs(system_[task.resource].policy))
    kernels.assign(1, task.worst);
  const std::int64_t critical = scenario_.flows[structure_.flow_of[id.index].index].critical_event;
  Time saved{};
  switch (scenario_.executions[id.index]) {
    case Scenario::Execution::worst:
      break;
    case Scenario::Execution::best:
      saved = task.worst - task.best;
      break;
    case Scenario::Execution::first_worst:
      if (event > critical) saved = task.worst - task.best;
      break;
    case Scenario::Execution::any:
      saved = below(random_, task.worst - task.best + Time{1});
      break;
  }
  for (std::size_t k = 0; k < kernels.size() && saved > Time{}; ++k) {
    const Time less = std::min(saved, kernels[k]);
    kernels[k] -= less;
    saved -= less;
  }
  return kernels;
}

void Run::end_pieces(Time now) {
  for (std::size_t r = 0; r < resources_.size(); ++r)
    if (resources_[r].piece_end == now) stop_piece(ResourceId(r), now);
}

/// The running job has worked until now; it ends, or is ready again.
void Run::stop_piece(ResourceId id, Time now) {
  ResourceState& resource = resources_[id.index];
  resource.piece_end = Time::max();
  if (!resource.running) return;
  TaskJob job = std::move(*resource.running);
  resource.running.reset();
  record(job, resource.piece_begin, now);
  job.kernels.back() -= now - resource.piece_begin;
  if (job.kernels.back() > Time{}) {
    resource.ready.push_back(std::move(job));
    return;
  }
  job.kernels.pop_back();
  const bool queues_again = system_[id].policy == SchedulingPolicy::fifo_by_kernel;
  const auto queue_at_end = [&](TaskJob& next) {
    next.order = ++queued_;
    next.queued = now;
  };
  if (!job.kernels.empty()) {
    if (queues_again) queue_at_end(job);
    resource.ready.push_back(std::move(job));
    return;
  }
  if (queues_again)
    for (TaskJob& next : resource.ready)
      if (next.task == job.task) queue_at_end(next);
  end_job(job, now);
}

void Run::end_job(const TaskJob& job, Time now) {
  const FlowId id = structure_.flow_of[job.task.index];
  FlowState& flow = flows_[id.index];
  const auto event = static_cast<std::size_t>(job.event);
  Time& largest = result_.tasks[job.task.index];
  largest = std::max(largest, now - job.activated);
  for (TaskId later : structure_.successors[job.task.index])
    if (--flow.open[open_index(id, later, job.event)] == 0) release_or_wait(later, job.event, now);
  if (--flow.unfinished[event] > 0) return;
  const Arrival& arrival = flow.events[event];
  result_.flows[id.index] = std::max(result_.flows[id.index], now - arrival.comes);
  result_.completions[id.index] = std::max(result_.completions[id.index], now - arrival.due);
  if (trace_ != nullptr)
    trace_->frames.push_back({id.index, job.event, arrival.comes, arrival.comes, now});
}

void Run::dispatch(ResourceId id, Time now) {
  ResourceState& resource = resources_[id.index];
  if (resource.running && !is_preemptive(system_[id].policy)) return;
  if (resource.running) stop_piece(id, now);
  resource.piece_end = Time::max();
  if (resource.ready.empty()) return;
  work_ += static_cast<std::int64_t>(resource.ready.size());
  if (system_[id].policy == SchedulingPolicy::table)
    resource.piece_end = slot_at(system_[id], resource.table_phase, now).second;
  const auto next = chosen(system_, system_[id], resource, now);
  if (!next) return;
  resource.running = std::move(resource.ready[*next]);
  resource.ready.erase(resource.ready.begin() + static_cast<std::ptrdiff_t>(*next));
  resource.piece_begin = now;
  resource.piece_end = std::min(resource.piece_end, now + resource.running->kernels.back());
}

void Run::record(const TaskJob& job, Time begin, Time end) {
  if (trace_ == nullptr || end == begin) return;
  for (auto last = trace_->firings.rbegin(); last != trace_->firings.rend(); ++last) {
    if (last->stage != job.task.index) continue;
    if (last->frame != job.event || last->end != begin) break;
    last->end = end;  // looked at for other resources, and not interrupted
    return;
  }
  trace_->firings.push_back({job.task.index, 0, job.event, 1, begin, end});
}

}  // namespace millrace::realtime
