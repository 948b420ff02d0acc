// The search for a static table: one pass of decisions from time 0 on, again with other orders
// where it fails.
#include <algorithm>

#include "base/random.h"
#include "realtime/static_table.h"

namespace millrace::realtime {
namespace {

struct Job {
  std::size_t task = 0;
  std::int64_t number = 0;
  Time release{}, deadline{}, left{};
  double order = 0;  // the smallest goes first
};

/// A strategy for one pass.
struct Pass {
  Time frame{};             // 0: none
  bool looks_ahead = true;  // nothing begins that makes a more urgent job late
  double noise = 0;         // of the order, in shares of the relative deadline
};

class TableBuilder {
 public:
  TableBuilder(const std::vector<TableTask>& tasks, Time cycle, const Pass& pass, Random& random)
      : tasks_(tasks), pass_(pass), result_{cycle, pass.frame, {}} {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      const std::int64_t count = cycle / tasks[t].period;
      units_ = std::max(units_, tasks[t].units.back() + 1);
      for (std::int64_t n = 0; n < count; ++n) {
        const Time release = tasks[t].period * n;
        Job job{t, n, release, release + tasks[t].deadline, tasks[t].worst};
        job.order = static_cast<double>(job.deadline.count()) +
                    pass.noise * random.unit() * static_cast<double>(tasks[t].deadline.count());
        jobs_.push_back(job);
      }
    }
    std::ranges::stable_sort(jobs_, {}, &Job::release);
    busy_until_.resize(units_);
  }

  std::optional<StaticTable> build() {
    Time now{};
    while (next_ < jobs_.size() || !ready_.empty()) {
      for (; next_ < jobs_.size() && jobs_[next_].release <= now; ++next_) insert(next_);
      if (!start_jobs(now)) return std::nullopt;
      const Time then = next_moment(now);
      if (then == Time::max()) break;
      now = then;
    }
    if (!ready_.empty()) return std::nullopt;
    std::ranges::stable_sort(result_.entries, [](const TableEntry& a, const TableEntry& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.task < b.task;
    });
    return std::move(result_);
  }

 private:
  void insert(std::size_t job) {
    const auto place = std::ranges::lower_bound(
        ready_, jobs_[job].order, {}, [&](std::size_t other) { return jobs_[other].order; });
    ready_.insert(place, job);
  }

  /// Begins what can begin now; false: a deadline cannot be met any more.
  bool start_jobs(Time now) {
    std::vector<bool> kept(units_, false);  // for a job that goes first and waits for other units
    for (std::size_t i = 0; i < ready_.size();) {
      const Job& job = jobs_[ready_[i]];
      if (now + job.left > job.deadline) return false;
      if (is_free(job, now, kept) && may_begin(job, now)) {
        if (start(ready_[i], now)) {
          ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
          continue;
        }
      } else if (tasks_[job.task].units.size() > 1) {
        for (std::size_t unit : tasks_[job.task].units) kept[unit] = true;
      }
      ++i;
    }
    return true;
  }

  /// Whether it is complete then.
  bool start(std::size_t number, Time now) {
    Job& job = jobs_[number];
    const Time end = end_of_piece(job, now);
    result_.entries.push_back({job.task, job.number, now, end});
    for (std::size_t unit : tasks_[job.task].units) busy_until_[unit] = end;
    job.left -= end - now;
    return job.left == Time{};
  }

  /// What may be cut takes no time from a job that waits for other units.
  bool is_free(const Job& job, Time now, const std::vector<bool>& kept) const {
    const TableTask& task = tasks_[job.task];
    return std::ranges::all_of(task.units, [&](std::size_t unit) {
      return busy_until_[unit] <= now && (task.preemptive || !kept[unit]);
    });
  }

  Time end_of_frame(Time now) const { return (now / pass_.frame + 1) * pass_.frame; }

  bool may_begin(const Job& job, Time now) const {
    const bool whole = !tasks_[job.task].preemptive;
    if (pass_.frame > Time{} && whole && now + job.left > end_of_frame(now)) return false;
    return !whole || !pass_.looks_ahead || !delays_more_urgent(job, now);
  }

  /// Whether a job that comes while this one runs, on one of its units, would be late.
  bool delays_more_urgent(const Job& job, Time now) const {
    const Time end = now + job.left;
    for (std::size_t n = next_; n < jobs_.size() && jobs_[n].release < end; ++n) {
      const Job& other = jobs_[n];
      if (other.deadline < job.deadline && end + other.left > other.deadline &&
          shares_unit(job, other))
        return true;
    }
    return false;
  }
  bool shares_unit(const Job& a, const Job& b) const {
    const auto& of_b = tasks_[b.task].units;
    return std::ranges::any_of(tasks_[a.task].units, [&](std::size_t unit) {
      return std::ranges::find(of_b, unit) != of_b.end();
    });
  }

  /// A job that may be cut runs until something changes; others may need its unit then.
  Time end_of_piece(const Job& job, Time now) const {
    Time end = now + job.left;
    if (!tasks_[job.task].preemptive) return end;
    if (pass_.frame > Time{}) end = std::min(end, end_of_frame(now));
    return std::min(end, next_moment(now));
  }

  Time next_moment(Time now) const {
    Time then = next_ < jobs_.size() ? jobs_[next_].release : Time::max();
    for (Time until : busy_until_)
      if (until > now) then = std::min(then, until);
    if (pass_.frame > Time{} && !ready_.empty()) then = std::min(then, end_of_frame(now));
    return then;
  }

  const std::vector<TableTask>& tasks_;
  const Pass& pass_;
  StaticTable result_;
  std::size_t units_ = 0, next_ = 0;  // jobs from `next_` on are not released yet
  std::vector<Job> jobs_;             // by release
  std::vector<std::size_t> ready_;    // by order
  std::vector<Time> busy_until_;
};

/// Pieces that follow each other without a gap are one.
void join_pieces(StaticTable& table, std::size_t tasks) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::vector<TableEntry> joined;
  std::vector<std::size_t> last(tasks, none);  // of the task, in `joined`
  for (const TableEntry& entry : table.entries) {
    const bool in_frame = table.frame == Time{} || entry.begin % table.frame != Time{};
    std::size_t& at = last[entry.task];
    if (at != none && joined[at].job == entry.job && joined[at].end == entry.begin && in_frame) {
      joined[at].end = entry.end;
    } else {
      at = joined.size();
      joined.push_back(entry);
    }
  }
  table.entries = std::move(joined);
}

bool is_overloaded(const std::vector<TableTask>& tasks, Time cycle) {
  std::vector<long double> loads;
  for (const TableTask& task : tasks)
    for (std::size_t unit : task.units) {
      loads.resize(std::max(loads.size(), unit + 1), 0);
      loads[unit] += static_cast<long double>(cycle / task.period) *
                     static_cast<long double>(task.worst.count());
    }
  return std::ranges::any_of(
      loads, [&](long double load) { return load > static_cast<long double>(cycle.count()); });
}

}  // namespace

std::optional<StaticTable> make_table(const std::vector<TableTask>& tasks) {
  check(tasks);
  if (tasks.empty()) return StaticTable{};
  const Time cycle = hyperperiod(tasks);
  if (is_overloaded(tasks, cycle)) return std::nullopt;
  std::vector<Pass> passes;
  constexpr std::size_t most_frames = 8;
  for (Time frame : frames(tasks)) {
    if (passes.size() == most_frames) break;
    passes.push_back({.frame = frame});
  }
  passes.push_back({});
  passes.push_back({.looks_ahead = false});
  for (int i = 0; i < 40; ++i)
    passes.push_back(
        {.looks_ahead = i % 2 == 0, .noise = 0.1 * static_cast<double>(1 + i / 2 % 10)});
  Random random(1);
  for (const Pass& pass : passes) {
    std::optional<StaticTable> table = TableBuilder(tasks, cycle, pass, random).build();
    if (!table) continue;
    join_pieces(*table, tasks.size());
    if (replay(*table, tasks)) return table;
  }
  return std::nullopt;
}

}  // namespace millrace::realtime
