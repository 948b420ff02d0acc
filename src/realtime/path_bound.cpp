#include "realtime/path_bound.h"

#include <algorithm>

#include "realtime/fixpoint.h"
#include "realtime/utilisation.h"
#include "realtime/whole_window.h"

namespace millrace::realtime {
namespace {

bool has_priorities(const Resource& resource) {
  return resource.policy == SchedulingPolicy::fixed_priority ||
         resource.policy == SchedulingPolicy::fixed_priority_nonpreemptive;
}

EventModel due_only(EventModel events) {
  events.jitter = events.min_distance = Time{};
  return events;
}

constexpr int most_paths = 100;
constexpr int most_splits = 4;

}  // namespace

/// Tasks of a path that follow each other on a resource.
struct PathBounds::Visit {
  ResourceId resource;
  TaskId last;
  std::size_t place = 0;   // of the first of them among the path's tasks
  std::int64_t level = 0;  // the least of their priorities
  Time begin{};            // they come there no earlier than this after the path's begin
};

struct PathBounds::Path {
  const std::vector<TaskState>& states;
  const TaskState& now;
  std::vector<TaskId> tasks;  // from the last to the first
  std::vector<Time> windows = {};  // by the path's tasks: of the path from there on
  std::vector<Visit> visits = {};
  bool is_extended = false;
  int looked_at = 0;
  /// The path is known to come to this visit within this time.
  std::size_t split = 0;
  Time split_from{}, split_to{};

  TaskId first() const { return tasks.back(); }
  TaskId last() const { return tasks.front(); }
  const TaskState& state(TaskId task) const {
    return task == last() ? now : states[task.index];
  }
  /// As known so far: rounds go on until nothing exceeds it.
  Time completion(TaskId task) const { return states[task.index].completion; }
  bool has(TaskId task) const {
    return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  }
  /// The path's last task on the resource; invalid if there is none.
  TaskId last_on(ResourceId resource) const {
    for (auto visit = visits.rbegin(); visit != visits.rend(); ++visit)
      if (visit->resource == resource) return visit->last;
    return {};
  }
  void find_visits(const TaskSystem& system) {
    visits.clear();
    Time begin{};
    for (auto at = tasks.rbegin(); at != tasks.rend(); begin += system[*at].best, ++at) {
      const Task& task = system[*at];
      if (visits.empty() || visits.back().resource != task.resource)
        visits.push_back({task.resource, *at, static_cast<std::size_t>(tasks.rend() - at) - 1,
                          task.priority, begin});
      visits.back().last = *at;
      visits.back().level = std::min(visits.back().level, task.priority);
    }
  }
};

PathBounds::PathBounds(const TaskSystem& system, const Structure& structure, bool splits)
    : system_(system), structure_(structure), splits_(splits) {
  for (const Utilisation& one : utilisations(system)) overloaded_.push_back(one.is_overloaded);
  for (std::size_t t = 0; t < system.tasks.size(); ++t) of_use_.push_back(is_of_use(TaskId(t)));
  for (std::size_t f = 0; f < system.flows.size(); ++f)
    whole_.push_back(whole_window(system, structure, FlowId(f)));
  windows_.resize(system.tasks.size() * system.tasks.size());
}

PathBounds::Windows& PathBounds::kept(TaskId first, TaskId last) {
  return windows_[first.index * system_.tasks.size() + last.index];
}

const PathBounds::Windows& PathBounds::kept(TaskId first, TaskId last) const {
  return windows_[first.index * system_.tasks.size() + last.index];
}

/// Where flows have one task on each resource, the busy windows say as much.
bool PathBounds::is_of_use(TaskId task) const {
  const FlowId flow = structure_.flow_of[task.index];
  if (system_[flow].events.burst > 1) return false;
  if (!system_[task].after.empty()) return true;
  std::vector<int> on_resource(system_.flows.size(), 0);
  for (TaskId other : structure_.on[system_[task].resource.index])
    if (++on_resource[structure_.flow_of[other.index].index] > 1) return true;
  return false;
}

PathBound PathBounds::of(TaskId task, const std::vector<TaskState>& states, const TaskState& now) {
  PathBound found;
  const Time whole = whole_[structure_.flow_of[task.index].index];
  if (of_use_[task.index]) {
    for (std::size_t first = 0; first < system_.tasks.size(); ++first)
      kept(TaskId(first), task) = {};
    Path path{states, now, {task}};
    found = along(path, {now.window.response, now.done, now.completion});
    if (path.looked_at > most_paths)
      for (std::size_t first = 0; first < system_.tasks.size(); ++first)
        kept(TaskId(first), task) = {};
  }
  if (whole == unbounded) return found;
  found.done = std::min(found.done, whole);
  found.response = std::min(found.response, whole);
  const Flow& flow = system_[structure_.flow_of[task.index]];
  found.completion = std::min(found.completion, plus(whole, flow.events.jitter));
  return found;
}

/// A path begins where its first task was released by an event or its offset, or else by the end of
/// one of the tasks before it: then the path that it prolongs is looked at too.
PathBound PathBounds::along(Path& path, PathBound best) {
  ++path.looked_at;
  const TaskId first = path.first();
  if (system_[system_[first].resource].policy == SchedulingPolicy::table) return best;
  path.find_visits(system_);
  const TaskState& begin = path.state(first);
  const bool is_one = path.tasks.size() == 1;
  // From the release of the first task to the end of the last.
  Time longest = std::max(Time{}, std::min(best.done - begin.earliest_since_source,
                                           best.completion - begin.earliest));
  if (is_one) longest = std::min(longest, best.response);
  const Windows windows = windows_of(path, longest + Time{1});
  keep(path, windows);
  const Time window = std::min(windows.plain, windows.extended);
  path.windows.resize(path.tasks.size());
  path.windows.back() = std::min(window, longest);
  if (window != unbounded) {
    if (is_one) best.response = std::min(best.response, window);
    best.done = std::min(best.done, begin.since_source + window);
    best.completion = std::min(best.completion, begin.latest + window);
  }
  if (system_[first].after.empty() || system_[first].offset > Time{} ||
      path.looked_at > most_paths)
    return best;
  PathBound most{best.response, Time{}, Time{}};
  for (TaskId before : system_[first].after) {
    path.tasks.push_back(before);
    const PathBound found = along(path, best);
    path.tasks.pop_back();
    most.done = std::max(most.done, found.done);
    most.completion = std::max(most.completion, found.completion);
  }
  return most;
}

PathBounds::Windows PathBounds::windows_of(const Path& path, Time limit) const {
  Windows found{.level = path.visits.front().level, .is_known = true};
  for (const Visit& visit : path.visits) {
    if (overloaded_[visit.resource.index]) return found;
    for (TaskId other : structure_.on[visit.resource.index])
      if (path.state(other).endless) return found;
  }
  Path extended = path;
  extended.is_extended = true;
  if (can_extend(extended))
    found.extended = window_of(std::move(extended), limit);
  found.plain = window_of(path, std::min(limit, found.extended));
  return found;
}

/// When the path comes to another resource decides what it finds there: it comes late only where
/// it was delayed before, and by then others are done there.
Time PathBounds::window_of(Path path, Time limit) const {
  Time window = interference_of(path).longest_window_below(limit);
  if (!splits_) return window;
  for (path.split = path.visits.size() - 1; path.split > 0; --path.split) {
    const Visit& visit = path.visits[path.split];
    path.split_from = visit.begin;
    path.split_to = std::min({until(path, path.visits[path.split - 1].last), limit, window});
    if (path.windows[visit.place] == unbounded) continue;
    window = std::min(window, split_window(path, std::min(limit, window), 0));
  }
  return window;
}

Time PathBounds::split_window(Path& path, Time limit, int depth) const {
  const Time from = path.split_from, to = path.split_to;
  if (to < from) return Time{};
  const Time rest = path.windows[path.visits[path.split].place];
  const Time early = plus(to, rest);
  const Time window =
      std::min(early, interference_of(path).longest_window_below(std::min(limit, early)));
  if (depth == most_splits || from == to) return window;
  const Time middle = from + (to - from) / 2;
  path.split_to = middle;
  const Time first = split_window(path, limit, depth + 1);
  path.split_from = middle + Time{1};
  path.split_to = to;
  const Time second = first >= limit ? unbounded : split_window(path, limit, depth + 1);
  path.split_from = from;
  return std::min(window, std::max(first, second));
}

void PathBounds::keep(const Path& path, const Windows& windows) {
  Windows& known = kept(path.first(), path.last());
  if (!known.is_known) {
    known = windows;
    return;
  }
  known.plain = std::max(known.plain, windows.plain);
  known.extended = known.level == windows.level ? std::max(known.extended, windows.extended)
                                                : unbounded;
}

/// The window may begin with the first resource's busy window, if no other job of the flow lies in
/// it: each has ended, and left the resource without work of the path's level.
bool PathBounds::can_extend(const Path& path) const {
  const Visit& visit = path.visits.front();
  if (system_[visit.resource].policy != SchedulingPolicy::fixed_priority) return false;
  const FlowId flow = structure_.flow_of[path.first().index];
  const Time latest_end = system_[flow].events.period + path.state(path.first()).earliest;
  for (TaskId other : structure_.on[visit.resource.index]) {
    const std::int64_t priority = system_[other].priority;
    if (priority < visit.level) continue;
    if (structure_.flow_of[other.index] != flow) {
      if (priority == visit.level) return false;
      continue;
    }
    if (priority > visit.level || path.completion(other) > latest_end) return false;
    const bool is_ordered = path.has(other) || structure_.is_before(other, path.first()) ||
                            structure_.is_before(path.last(), other);
    if (!is_ordered) return false;
  }
  return true;
}

Interference PathBounds::interference_of(const Path& path) const {
  const FlowId flow = structure_.flow_of[path.first().index];
  Interference found{.period = system_[flow].events.period};
  for (TaskId task : path.tasks)
    found.constant = plus(found.constant, plus(system_[task].worst, blocking_of(task)));
  std::vector<std::size_t> place(system_.flows.size(), system_.flows.size());
  for (const Visit& visit : path.visits)
    for (TaskId other : structure_.on[visit.resource.index]) {
      const FlowId other_flow = structure_.flow_of[other.index];
      if (other_flow == flow || !can_delay(other, visit)) continue;
      std::size_t& at = place[other_flow.index];
      if (at == system_.flows.size()) {
        at = found.flows.size();
        found.flows.push_back({due_only(system_[other_flow].events), {}});
      }
      add_interferer(path, visit, other, found.flows[at].tasks);
    }
  for (TaskId other : system_[flow].tasks) add_own_flow(path, other, found);
  return found;
}

bool PathBounds::can_delay(TaskId other, const Visit& visit) const {
  return !has_priorities(system_[visit.resource]) || system_[other].priority >= visit.level;
}

/// A job that may delay two visits counts for the first of them.
void PathBounds::add_interferer(const Path& path, const Visit& visit, TaskId other,
                                std::vector<Interferer>& tasks) const {
  const TaskState& state = path.states[other.index];
  Interferer found{.task = other,
                   .worst = system_[other].worst,
                   .left = begin_of(path, visit) - state.completion,
                   .earliest = state.earliest,
                   .until = end_of(path, visit),
                   .ends_by_then = true};
  if (path.is_extended && &visit == &path.visits.front()) {
    const Time latest = head_latest(path, other);
    found.left = -latest - Time{1};
    found.ends_by_then = false;
    if (latest == state.latest) found.arrivals = &state.arrivals;
  }
  for (const Interferer& earlier : tasks) {
    if (earlier.task != other) continue;
    if (earlier.until == unbounded) return;
    const Time counted = std::max(earlier.left, earlier.until - earlier.earliest - Time{1});
    if (counted < found.left) continue;
    found.left = counted;
    found.ends_by_then = false;
  }
  tasks.push_back(found);
}

/// A task that follows another on the busy resource comes with it: the latest release of the first
/// of such tasks.
Time PathBounds::head_latest(const Path& path, TaskId task) const {
  const Time own = path.states[task.index].latest;
  if (system_[task].after.empty() || system_[task].offset > Time{}) return own;
  Time latest{};
  for (TaskId before : system_[task].after) {
    if (system_[before].resource != system_[task].resource ||
        system_[before].priority < path.visits.front().level)
      return own;
    latest = std::max(latest, head_latest(path, before));
  }
  return latest;
}

/// Interference by the path's own flow: jobs of the same activation beside the path, of earlier
/// ones that are late, and of later ones that do not come after the path's last task there.
void PathBounds::add_own_flow(const Path& path, TaskId other, Interference& found) const {
  const auto visit = std::find_if(path.visits.begin(), path.visits.end(), [&](const Visit& one) {
    return one.resource == system_[other].resource && can_delay(other, one);
  });
  if (visit == path.visits.end()) return;
  const TaskId last = path.last_on(visit->resource);
  const TaskState& begin = path.state(path.first());
  const Time worst = system_[other].worst;
  const bool is_last = other == last || structure_.is_before(last, other);
  const bool is_beside =
      !is_last && !path.has(other) && !structure_.is_before(other, path.first());
  if (is_beside) found.constant = plus(found.constant, worst);
  Time late = path.completion(other) - begin.earliest - visit->begin - found.period;
  if (late > worst) {
    const std::int64_t whole = (late - worst) / found.period;
    found.constant = plus(found.constant, times(worst, whole));
    late -= times(found.period, whole);
  }
  for (; late > Time{}; late -= found.period)
    found.constant = plus(found.constant, std::min(worst, late));
  if (!is_last)
    found.later.push_back({worst, begin.latest - path.state(other).earliest, until(path, last)});
}

Time PathBounds::begin_of(const Path& path, const Visit& visit) const {
  if (path.split == 0 || &visit < &path.visits[path.split]) return visit.begin;
  return path.split_from + (visit.begin - path.visits[path.split].begin);
}

Time PathBounds::end_of(const Path& path, const Visit& visit) const {
  const Time end = until(path, visit.last);
  const bool is_split = path.split > 0 && &visit < &path.visits[path.split];
  return is_split ? std::min(end, path.split_to) : end;
}

/// When the path's task has ended, from the window's begin; `unbounded` for its last one.
Time PathBounds::until(const Path& path, TaskId last) const {
  if (last == path.last()) return unbounded;
  const Windows& known = kept(path.first(), last);
  if (path.is_extended)
    return known.level == path.visits.front().level ? known.extended : unbounded;
  const TaskState& begin = path.state(path.first());
  const TaskState& end = path.state(last);
  return std::min({known.plain, known.extended, end.done - begin.earliest_since_source,
                   end.completion - begin.earliest});
}

/// On resources without preemption, each of the path's tasks may find another at work.
Time PathBounds::blocking_of(TaskId id) const {
  const Task& task = system_[id];
  Time longest{};
  if (system_[task.resource].policy == SchedulingPolicy::fixed_priority_nonpreemptive)
    for (TaskId other : structure_.on[task.resource.index]) {
      const Task& interferer = system_[other];
      if (interferer.priority >= task.priority) continue;
      longest = std::max(longest, interferer.kernels.empty()
                                      ? interferer.worst
                                      : *std::max_element(interferer.kernels.begin(),
                                                          interferer.kernels.end()));
    }
  return plus(task.blocking, longest);
}

}  // namespace millrace::realtime
