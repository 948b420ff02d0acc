#include "realtime/policy.h"

#include <algorithm>
#include <array>

namespace millrace::realtime {

SuccessiveKernels::SuccessiveKernels(const Task& task) {
  const std::vector<Time> one{task.worst};
  const std::vector<Time>& kernels = task.kernels.empty() ? one : task.kernels;
  const std::size_t count = kernels.size();
  last_ = kernels.back();
  largest_.assign(count + 1, Time{});
  for (std::size_t first = 0; first < count; ++first) {
    Time sum{};
    for (std::size_t length = 1; length <= count; ++length) {
      sum += kernels[(first + length - 1) % count];
      largest_[length] = std::max(largest_[length], sum);
    }
  }
}

Time SuccessiveKernels::of(std::int64_t kernels) const {
  const auto rest = static_cast<std::size_t>(kernels % count());
  return plus(times(largest_.back(), kernels / count()), largest_[rest]);
}

namespace {

/// What a interferer has to do in a window of `width` from its begin; `rest`: from the arrival on.
struct Reach {
  Time width{}, rest{};
};

/// The work until a job ends that arrives then, as the `job`-th that is ready. Of its own flow: all
/// that came, but no more than what may be ready together with it, and what else could be done
/// before it arrived.
template <class ReachOf>
Time work_until_end(const LocalView& view, std::int64_t job, Time arrival, const ReachOf& reach) {
  Time work = plus(view.task->blocking, times(view.task->worst, job));
  Time ready{}, of_flow{};
  for (const InterferingTask& interferer : view.interferers) {
    const Reach found = reach(interferer);
    const std::int64_t jobs = interferer.arrivals.events_within(found.width);
    if (!interferer.jobs_of_flow.same_flow) {
      work = plus(work, times(interferer.task->worst, jobs));
      continue;
    }
    of_flow = plus(of_flow, times(interferer.task->worst, jobs));
    ready = plus(ready, times(interferer.task->worst,
                              std::min(jobs, interferer.jobs_of_flow.most_jobs(found.rest))));
  }
  if (!view.shares_flow) return work;
  const std::int64_t own = std::max(job, view.arrivals.events_up_to(arrival)) - job;
  of_flow = plus(of_flow, times(view.task->worst, own));
  if (view.keeps_flow_busy) of_flow = unbounded;
  return plus(work, std::min(of_flow, plus(ready, arrival)));
}

bool all_compete(const LocalView&, const InterferingTask&) { return true; }
bool none_competes(const LocalView&, const InterferingTask&) { return false; }
Time own_blocking(const LocalView& view) { return view.task->blocking; }

// Fixed priority: Joseph and Pandya 1986, Lehoczky 1990. Without preemption: Davis et al. 2007;
// between kernels: fixed preemption points, Bril, Lukkien and Verhaegh 2009.

bool has_no_lower_priority(const LocalView& view, const InterferingTask& interferer) {
  return interferer.task->priority >= view.task->priority;
}

/// The least share of any window from its begin on that more urgent tasks of other flows ask for.
double least_interference(const LocalView& view) {
  double share = 0;
  for (const InterferingTask& interferer : view.interferers) {
    const EventModel& arrivals = interferer.arrivals;
    if (!has_no_lower_priority(view, interferer) || interferer.jobs_of_flow.same_flow ||
        arrivals.burst > 1)
      continue;
    share += static_cast<double>(interferer.task->worst.count()) /
             static_cast<double>(std::max(arrivals.period, arrivals.min_distance).count());
  }
  return share;
}

/// No end is earlier, so the search for it may begin here: where processors are nearly full, steps
/// from the own work on are many (Sjodin and Hansson 1998, lemma 1).
Time earliest_finish(const LocalView& view, std::int64_t job) {
  const Time own = plus(view.task->blocking, times(view.task->worst, job));
  constexpr double too_full = 1 - 1e-6, below_rounding = 1 - 1e-9;
  const double share = least_interference(view);
  if (share >= too_full || own == unbounded) return own;
  const double end = static_cast<double>(own.count()) / (1 - share) * below_rounding;
  if (end >= static_cast<double>(longest_window.count())) return own;
  return std::max(own, Time{static_cast<std::int64_t>(end)});
}

Time finish_preemptive(const LocalView& view, std::int64_t job, Time arrival) {
  return least_fixpoint(earliest_finish(view, job), [&](Time time) {
    return work_until_end(view, job, arrival, [&](const InterferingTask& interferer) {
      return has_no_lower_priority(view, interferer) ? Reach{time, time - arrival} : Reach{};
    });
  });
}

Time kernel_blocking(const LocalView& view) {
  Time longest{};
  for (const InterferingTask& interferer : view.interferers)
    if (!has_no_lower_priority(view, interferer))
      longest = std::max(longest, interferer.kernels->longest());
  return plus(view.task->blocking, view.blocked_for(longest));
}

Time finish_nonpreemptive(const LocalView& view, std::int64_t job, Time arrival) {
  const Time last = view.kernels->last();
  const Time blocking = kernel_blocking(view) - view.task->blocking;
  const Time end = least_fixpoint(times(view.task->worst, job), [&](Time time) {
    const Time until = time - last + Time{1};  // from its last kernel on nothing interrupts
    const Time work = work_until_end(view, job, arrival, [&](const InterferingTask& interferer) {
      return has_no_lower_priority(view, interferer) ? Reach{until, until - arrival} : Reach{};
    });
    return plus(blocking, work);
  });
  return end;
}

// First in, first out: whoever arrived by then comes first.

Time finish_fifo(const LocalView& view, std::int64_t job, Time arrival) {
  const Time work = work_until_end(view, job, arrival, [&](const InterferingTask&) {
    return Reach{arrival + Time{1}, Time{1}};
  });
  return std::max(work, arrival + view.task->worst);
}

Time no_shift(const LocalView&, const InterferingTask&) { return {}; }

// By kernel: each kernel of the task waits for at most one of each interferer, and only jobs that
// come before the end and were not done at the begin have kernels.

Time finish_by_kernel(const LocalView& view, std::int64_t job, Time) {
  const Time own = plus(view.task->blocking, times(view.task->worst, job));
  const std::int64_t own_kernels = job * view.kernels->count();
  const Time end = least_fixpoint(own, [&](Time time) {
    Time demand = own;
    for (const InterferingTask& interferer : view.interferers) {
      std::int64_t jobs = interferer.jobs_of_flow.most_jobs(time);
      if (interferer.jobs_of_flow.same_flow)
        jobs += job - 1;  // those after the window's earlier jobs
      if (interferer.response != unbounded)
        jobs = std::min(jobs, interferer.arrivals.events_within(time + interferer.response));
      const std::int64_t kernels =
          std::min(own_kernels, std::min(jobs, own_kernels) * interferer.kernels->count());
      demand = plus(demand, interferer.kernels->of(kernels));
    }
    return demand;
  });
  return std::min(end, view.window);
}

// Earliest deadline first: Spuri 1996; without preemption: George, Rivierre and Spuri 1996.

Time deadline_shift(const LocalView& view, const InterferingTask& interferer) {
  return interferer.deadline - view.deadline;
}

Time finish_edf(const LocalView& view, std::int64_t job, Time arrival) {
  const Time end = least_fixpoint(times(view.task->worst, job), [&](Time time) {
    return work_until_end(view, job, arrival, [&](const InterferingTask& interferer) {
      const Time last = view.deadline - interferer.deadline + Time{1};
      return Reach{std::min(time, arrival + last), std::min(time - arrival, last)};
    });
  });
  return end == unbounded ? unbounded : std::max(end, arrival + view.task->worst);
}

Time longest_rival(const LocalView& view) {
  Time longest{};
  for (const InterferingTask& interferer : view.interferers)
    longest = std::max(longest, interferer.task->worst);
  return plus(view.task->blocking, view.blocked_for(longest));
}

Time finish_edf_nonpreemptive(const LocalView& view, std::int64_t job, Time arrival) {
  Time longest{};
  for (const InterferingTask& interferer : view.interferers)
    if (interferer.deadline > arrival + view.deadline)
      longest = std::max(longest, interferer.task->worst);
  const Time blocking = view.blocked_for(longest);
  const Time end = least_fixpoint(times(view.task->worst, job), [&](Time time) {
    const Time start = time - view.task->worst;
    const Time work = work_until_end(view, job, arrival, [&](const InterferingTask& interferer) {
      const Time last = std::min(start, arrival + view.deadline - interferer.deadline) + Time{1};
      return Reach{last, last - arrival};
    });
    return plus(blocking, work);
  });
  return end == unbounded ? unbounded : std::max(end, arrival + view.task->worst);
}

// Time division: the window begins when a slot of the task has just ended, the worst of them.

Time time_for(const LocalView& view, std::size_t first, Time work) {
  const std::vector<Slot>& table = view.resource->table;
  Time passed{};
  for (std::size_t s = first; work > Time{}; ++s) {
    const Slot& slot = table[s % table.size()];
    const bool is_own = slot.task == view.id;
    const Time used = is_own ? std::min(slot.length, work) : slot.length;
    if (is_own) work -= used;
    passed += used;
  }
  return passed;
}

Time finish_in_table(const LocalView& view, std::int64_t job, Time) {
  const std::vector<Slot>& table = view.resource->table;
  Time cycle{}, own{};
  for (const Slot& slot : table) {
    cycle += slot.length;
    if (slot.task == view.id) own += slot.length;
  }
  const Time work = plus(view.task->blocking, times(view.task->worst, job));
  const std::int64_t full = (work.count() - 1) / own.count();
  const Time rest = work - times(own, full);
  Time latest{};
  for (std::size_t s = 0; s < table.size(); ++s)
    if (table[s].task == view.id) latest = std::max(latest, time_for(view, s + 1, rest));
  return plus(times(cycle, full), latest);
}

constexpr std::array<PolicyRule, 7> rules{{
    {finish_preemptive, has_no_lower_priority, own_blocking, nullptr, true, false, false},
    {finish_nonpreemptive, has_no_lower_priority, kernel_blocking, nullptr, false, true, false},
    {finish_fifo, all_compete, own_blocking, no_shift, false, true, false},
    {finish_by_kernel, all_compete, own_blocking, nullptr, true, true, true},
    {finish_edf, all_compete, own_blocking, deadline_shift, false, true, false},
    {finish_edf_nonpreemptive, all_compete, longest_rival, deadline_shift, false, true, false},
    {finish_in_table, none_competes, own_blocking, nullptr, true, false, true},
}};

}  // namespace

const PolicyRule& rule_of(SchedulingPolicy policy) {
  return rules[static_cast<std::size_t>(policy)];
}

}  // namespace millrace::realtime
