#include "realtime/busy_window.h"

#include <algorithm>
#include <limits>

namespace millrace::realtime {
namespace {

Time longest_busy(const LocalView& view, const PolicyRule& rule) {
  const Time blocking = rule.blocking(view);
  return least_fixpoint(plus(blocking, view.task->worst), [&](Time time) {
    Time demand = plus(blocking, times(view.task->worst, view.arrivals.events_within(time)));
    for (const InterferingTask& interferer : view.interferers)
      if (rule.competes(view, interferer))
        demand =
            plus(demand, times(interferer.task->worst, interferer.arrivals.events_within(time)));
    return demand;
  });
}

constexpr int most_looked_at = 20'000;
/// For tasks whose flow returns to the resource: bounds along paths are as low there.
constexpr int most_looked_at_in_flows = 300;

WindowBound endless() { return {unbounded, unbounded, unbounded, unbounded, {}}; }

class Loop {
 public:
  Loop(LocalView& view, const PolicyRule& rule, const EventModel& events)
      : view_(view),
        rule_(rule),
        events_(events),
        follows_flow_(view.shares_flow && !rule.from_own_arrival),
        most_looked_at_(follows_flow_ ? most_looked_at_in_flows : most_looked_at) {}

  WindowBound run() {
    most_ = follows_flow_ ? view_.most_pending : std::numeric_limits<std::int64_t>::max();
    for (std::int64_t job = 1; job <= most_; ++job) {
      const Time earliest = view_.arrivals.distance(job);
      if (job > 1 && earliest >= view_.window) break;
      begin(job);
      if (looked_at_ >= most_looked_at_) return with_whole_window(earliest);
      const Time end = finish(earliest);
      if (end == unbounded) return endless();
      bound_.finishes.push_back(end);
      add(earliest, end);
      const Time first = add_settled(earliest);
      if (rule_.shift != nullptr || follows_flow_) add_arrivals_of_rivals(first);
      if (looked_at_ >= most_looked_at_) return with_whole_window(earliest);
      if (rule_.ends_with_backlog && gap_ >= Time{}) break;
    }
    if (leaves_out_)
      bound_.least_gap = std::min(bound_.least_gap, view_.arrivals.distance(2) - bound_.response);
    return std::move(bound_);
  }

 private:
  void begin(std::int64_t job) {
    job_ = job;
    due_ = events_.due_distance(job);
    source_ = events_.distance(job);
    next_ = view_.arrivals.distance(job + 1);
    gap_ = unbounded;
    last_ = job < most_ ? events_.due_distance(job + 1) : unbounded;
  }

  void add(Time arrival, Time end) {
    bound_.response = std::max(bound_.response, end - arrival);
    bound_.after_due = std::max(bound_.after_due, end - std::max(arrival, due_));
    bound_.after_source = std::max(bound_.after_source, end - std::max(arrival, source_));
    const Time next = std::max(next_, arrival + view_.arrivals.distance(2));
    gap_ = std::min(gap_, next - end);
    bound_.least_gap = std::min(bound_.least_gap, gap_);
  }

  /// Later arrivals count with more jobs of the task, and since `last_` both the event and the
  /// flow's activation lie behind the window's begin. They only may come closer to the next one.
  void leave_out_later() { leaves_out_ = true; }

  Time finish(Time arrival) {
    ++looked_at_;
    return rule_.finish(view_, job_, arrival);
  }

  /// In a very long window not every job is looked at: no job ends after the window.
  WindowBound with_whole_window(Time arrival) {
    const bool is_table = view_.resource->policy == SchedulingPolicy::table;
    if (is_table) return endless();  // its window is not that of work alone
    const Time window = view_.window == unbounded ? longest_busy(view_, rule_) : view_.window;
    if (window == unbounded) return endless();
    add(arrival, window);
    return std::move(bound_);
  }

  /// No job ends after the window, so that later arrivals can only be better than this.
  bool may_matter(Time arrival) const {
    if (looked_at_ >= most_looked_at_) return false;
    const Time longest = view_.window - arrival;
    return longest > bound_.response || view_.window - std::max(arrival, due_) > bound_.after_due ||
           view_.window - std::max(arrival, source_) > bound_.after_source ||
           std::max(next_, arrival + view_.arrivals.distance(2)) - view_.window < bound_.least_gap;
  }

  /// A job may arrive in a window in which its flow had other work, and behind which others wait
  /// already. The later it arrives, the more of them are there, as long as the flow has work that
  /// may have been done until then. Returns the latest of these arrivals.
  Time add_settled(Time arrival) {
    if (!follows_flow_) return arrival;
    const Time first = arrival;
    for (;;) {
      const Time work = std::min(done_by(arrival), view_.window - Time{1});
      if (work <= arrival) break;
      arrival = work;
    }
    if (arrival == first) return arrival;
    view_.keeps_flow_busy = true;
    const Time end = finish(arrival);
    if (end <= view_.window)
      add(arrival, end);
    else  // nothing ends after the window
      add(last_within_window(first, arrival), view_.window);
    view_.keeps_flow_busy = false;
    return arrival;
  }

  /// Between the two arrivals: the last one, if any, whose end lies in the window.
  Time last_within_window(Time low, Time high) const {
    while (high - low > Time{1}) {
      const Time middle = low + (high - low) / 2;
      if (rule_.finish(view_, job_, middle) <= view_.window)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  Time done_by(Time arrival) const {
    const std::int64_t own = std::max(job_, view_.arrivals.events_up_to(arrival)) - job_;
    Time work = times(view_.task->worst, own);
    for (const InterferingTask& interferer : view_.interferers) {
      if (!interferer.jobs_of_flow.same_flow || !rule_.competes(view_, interferer)) continue;
      work = plus(work, times(interferer.task->worst, interferer.arrivals.events_up_to(arrival)));
    }
    return work;
  }

  void add_arrivals_of_rivals(Time first) {
    for (const InterferingTask& interferer : view_.interferers) {
      if (rule_.shift != nullptr)
        add_arrivals(interferer.arrivals, rule_.shift(view_, interferer), first);
      if (interferer.jobs_of_flow.same_flow && follows_flow_ && rule_.competes(view_, interferer))
        add_arrivals(interferer.arrivals, Time{}, first);
    }
    if (follows_flow_) add_arrivals(view_.arrivals, Time{}, first);
  }

  void add_arrivals(const EventModel& events, Time shift, Time first) {
    std::int64_t event = 1;
    if (first > shift) event = events.events_up_to(first - shift) + 1;
    for (;; ++event) {
      const Time arrival = events.distance(event) + shift;
      if (arrival >= view_.window || !may_matter(arrival)) return;
      if (arrival >= last_) return leave_out_later();
      if (arrival <= first) continue;
      add(arrival, finish(arrival));
      add_settled(arrival);
    }
  }

  LocalView& view_;
  const PolicyRule& rule_;
  const EventModel& events_;
  const bool follows_flow_;  // a window has work of the flow that is done before the job comes
  const int most_looked_at_;
  WindowBound bound_;
  std::int64_t job_ = 0;
  int looked_at_ = 0;
  bool leaves_out_ = false;
  std::int64_t most_ = 0;
  Time due_{}, source_{}, next_{}, gap_{}, last_{};
};

}  // namespace

/// A share below 1 + 1e-12 may still be 1; then the window may end, and the search for its end has
/// a limit.
bool is_overloaded(const LocalView& view, const PolicyRule& rule) {
  const auto load = [](const Task& task, const EventModel& events) {
    return static_cast<long double>(task.worst.count()) * static_cast<long double>(events.burst) /
           static_cast<long double>(events.period.count());
  };
  long double sum = load(*view.task, view.arrivals);
  for (const InterferingTask& interferer : view.interferers)
    if (rule.competes(view, interferer)) {
      if (interferer.endless) return true;
      sum += load(*interferer.task, interferer.arrivals);
    }
  return sum > 1 + 1e-12L;
}

WindowBound busy_window(LocalView& view, const PolicyRule& rule, const EventModel& events) {
  if (is_overloaded(view, rule)) return endless();
  const bool follows_flow = view.shares_flow && !rule.from_own_arrival;
  view.window = rule.needs_window || follows_flow ? longest_busy(view, rule) : unbounded;
  if ((rule.needs_window || follows_flow) && view.window == unbounded) return endless();
  return Loop(view, rule, events).run();
}

}  // namespace millrace::realtime
