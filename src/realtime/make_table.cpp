// The search for a static table: one pass of decisions from time 0 on, again with other orders
// where it fails.
#include <algorithm>
#include <utility>

#include "base/random.h"
#include "realtime/static_table.h"

namespace millrace::realtime {
namespace {

/// What a job does at one time: a transfer, or its work.
struct Part {
  TablePart part = TablePart::run;
  Time length{};
  std::vector<std::size_t> units;
  bool whole = true;  // is not cut
};

std::vector<Part> parts_of(const TableTask& task) {
  std::vector<Part> parts;
  for (const TablePart part : {TablePart::in, TablePart::run, TablePart::out})
    if (const Time length = length_of(task, part); length > Time{})
      parts.push_back(
          {part, length, units_of(task, part), part != TablePart::run || !task.preemptive});
  return parts;
}

struct Job {
  std::size_t task = 0;
  std::int64_t number = 0;
  Time release{}, deadline{};
  std::size_t part = 0;  // of the task's
  Time left{}, rest{};   // of this part; of those after it
  double order = 0;      // the smallest goes first
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
      parts_.push_back(parts_of(tasks[t]));
      for (const Part& part : parts_.back())
        for (const std::size_t unit : part.units) units_ = std::max(units_, unit + 1);
      ended_.emplace_back(static_cast<std::size_t>(count), Time::max());
      const Time first = parts_.back().front().length, after = time_after(t);
      for (std::int64_t n = 0; n < count; ++n) {
        const Time release = tasks[t].period * n;
        const Time deadline = deadline_of_job(tasks, t, n);
        Job job{t, n, release, deadline, 0, first, length_of(tasks[t]) - first};
        job.order = static_cast<double>((deadline - after).count()) +
                    pass.noise * random.unit() * static_cast<double>(tasks[t].deadline.count());
        jobs_.push_back(job);
      }
    }
    std::ranges::stable_sort(jobs_, {}, &Job::release);
    busy_until_.resize(units_);
  }

  std::optional<StaticTable> build() {
    Time now{};
    while (next_ < jobs_.size() || !ready_.empty() || !later_.empty()) {
      for (; next_ < jobs_.size() && jobs_[next_].release <= now; ++next_) insert(next_);
      take_later(now);
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

  /// Jobs whose part before has ended.
  void take_later(Time now) {
    std::erase_if(later_, [&](const auto& later) {
      if (later.first > now) return false;
      insert(later.second);
      return true;
    });
  }

  /// What the tasks that read the results of this one take until the last of them has ended.
  Time time_after(std::size_t task) const {
    Time longest{};
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (std::ranges::find(tasks_[t].after, task) != tasks_[t].after.end())
        longest = std::max(longest, length_of(tasks_[t]) + time_after(t));
    return longest;
  }

  bool has_inputs(const Job& job, Time now) const {
    const TableTask& task = tasks_[job.task];
    return std::ranges::all_of(task.after, [&](std::size_t before) {
      const std::int64_t read = job_read(task, job.number, tasks_[before]);
      return ended_[before][static_cast<std::size_t>(read)] <= now;
    });
  }

  const Part& part_of(const Job& job) const { return parts_[job.task][job.part]; }

  /// Begins what can begin now; false: a deadline cannot be met any more.
  bool start_jobs(Time now) {
    std::vector<bool> kept(units_, false);  // for a job that goes first and waits for other units
    for (std::size_t i = 0; i < ready_.size();) {
      const Job& job = jobs_[ready_[i]];
      if (now + job.left + job.rest > job.deadline) return false;
      if (has_inputs(job, now) && is_free(job, now, kept) && may_begin(job, now)) {
        if (start(ready_[i], now)) {
          ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
          continue;
        }
      } else if (has_inputs(job, now) && part_of(job).units.size() > 1) {
        for (const std::size_t unit : part_of(job).units) kept[unit] = true;
      }
      ++i;
    }
    return true;
  }

  /// Whether its part is complete then; the next one follows later.
  bool start(std::size_t number, Time now) {
    Job& job = jobs_[number];
    const Part& part = part_of(job);
    const Time end = end_of_piece(job, now);
    result_.entries.push_back({job.task, job.number, now, end, part.part});
    for (const std::size_t unit : part.units) busy_until_[unit] = end;
    job.left -= end - now;
    if (job.left > Time{}) return false;
    if (job.part + 1 == parts_[job.task].size()) {
      ended_[job.task][static_cast<std::size_t>(job.number)] = end;
      return true;
    }
    ++job.part;
    job.left = part_of(job).length;
    job.rest -= job.left;
    later_.emplace_back(end, number);
    return true;
  }

  /// What may be cut takes no time from a job that waits for other units.
  bool is_free(const Job& job, Time now, const std::vector<bool>& kept) const {
    const Part& part = part_of(job);
    return std::ranges::all_of(part.units, [&](std::size_t unit) {
      return busy_until_[unit] <= now && (!part.whole || !kept[unit]);
    });
  }

  Time end_of_frame(Time now) const { return (now / pass_.frame + 1) * pass_.frame; }

  bool may_begin(const Job& job, Time now) const {
    const bool whole = part_of(job).whole;
    if (pass_.frame > Time{} && whole && now + job.left > end_of_frame(now)) return false;
    return !whole || !pass_.looks_ahead || !delays_more_urgent(job, now);
  }

  /// Whether a job that comes while this one runs, on one of its units, would be late.
  bool delays_more_urgent(const Job& job, Time now) const {
    const Time end = now + job.left;
    for (std::size_t n = next_; n < jobs_.size() && jobs_[n].release < end; ++n) {
      const Job& other = jobs_[n];
      if (other.deadline < job.deadline && end + other.left + other.rest > other.deadline &&
          shares_unit(job, other))
        return true;
    }
    return false;
  }
  /// The part of one job, and any part of another.
  bool shares_unit(const Job& a, const Job& b) const {
    return std::ranges::any_of(parts_[b.task], [&](const Part& part) {
      return std::ranges::any_of(part_of(a).units, [&](std::size_t unit) {
        return std::ranges::find(part.units, unit) != part.units.end();
      });
    });
  }

  /// A job that may be cut runs until something changes; others may need its unit then.
  Time end_of_piece(const Job& job, Time now) const {
    Time end = now + job.left;
    if (part_of(job).whole) return end;
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
  std::vector<std::vector<Part>> parts_;             // by task
  std::vector<std::vector<Time>> ended_;             // by task and job
  std::size_t units_ = 0, next_ = 0;                 // jobs from `next_` on are not released yet
  std::vector<Job> jobs_;                            // by release
  std::vector<std::size_t> ready_;                   // by order
  std::vector<std::pair<Time, std::size_t>> later_;  // when the next part of a job may begin
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
    if (at != none && joined[at].job == entry.job && joined[at].part == entry.part &&
        joined[at].end == entry.begin && in_frame) {
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
    for (const Part& part : parts_of(task))
      for (const std::size_t unit : part.units) {
        loads.resize(std::max(loads.size(), unit + 1), 0);
        loads[unit] += static_cast<long double>(cycle / task.period) *
                       static_cast<long double>(part.length.count());
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
