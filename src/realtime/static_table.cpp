#include "realtime/static_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace millrace::realtime {
namespace {

constexpr std::int64_t most_jobs = 1'000'000;

/// The product if it fits.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

constexpr std::array<TablePart, 3> all_parts{TablePart::in, TablePart::run, TablePart::out};

std::size_t number_of_units(const std::vector<TableTask>& tasks) {
  std::size_t units = 0;
  for (const TableTask& task : tasks)
    for (const TablePart part : all_parts)
      for (const std::size_t unit : units_of(task, part)) units = std::max(units, unit + 1);
  return units;
}

double utilisation_of(const TableTask& task) {
  return static_cast<double>(task.worst.count()) / static_cast<double>(task.period.count());
}

/// The longest base * 2^k that is at most `period`.
double harmonic_period(double period, double base) {
  return base * std::exp2(std::floor(std::log2(period / base) + 1e-12));
}

void check_transfers(const TableTask& task, const std::string& place) {
  if (!task.transfers) return;
  if (task.transfers->in < Time{} || task.transfers->out < Time{})
    throw InputError(place, "a transfer takes less than no time");
  if (std::ranges::find(task.units, task.transfers->link) != task.units.end())
    throw InputError(place, "its link is one of its units");
}

void check_order(const std::vector<TableTask>& tasks, std::size_t number, std::size_t depth) {
  const std::string place = fmt::format("task '{}'", tasks[number].name);
  if (depth > tasks.size()) throw InputError(place, "it waits for itself");
  for (const std::size_t before : tasks[number].after) {
    if (before >= tasks.size()) throw InputError(place, "it is after a task that is not there");
    check_order(tasks, before, depth + 1);
  }
}

/// The first activation of the jobs that lead to this one.
Time first_activation(const std::vector<TableTask>& tasks, std::size_t task, std::int64_t job) {
  Time first = tasks[task].period * job;
  for (const std::size_t before : tasks[task].after)
    first =
        std::min(first, first_activation(tasks, before, job_read(tasks[task], job, tasks[before])));
  return first;
}

}  // namespace

std::int64_t job_read(const TableTask& task, std::int64_t job, const TableTask& before) {
  return task.period * job / before.period;
}

Time deadline_of_job(const std::vector<TableTask>& tasks, std::size_t task, std::int64_t job) {
  const Time own = tasks[task].period * job + tasks[task].deadline;
  if (!tasks[task].end_to_end) return own;
  return std::min(own, first_activation(tasks, task, job) + *tasks[task].end_to_end);
}

const char* to_text(TablePart part) {
  return part == TablePart::in ? "in" : part == TablePart::run ? "run" : "out";
}

std::vector<std::size_t> units_of(const TableTask& task, TablePart part) {
  if (part == TablePart::run) return task.units;
  if (length_of(task, part) == Time{}) return {};
  return {task.transfers->link};
}

Time length_of(const TableTask& task, TablePart part) {
  if (part == TablePart::run) return task.worst;
  if (!task.transfers) return {};
  return part == TablePart::in ? task.transfers->in : task.transfers->out;
}

Time length_of(const TableTask& task) {
  Time sum{};
  for (const TablePart part : all_parts) sum += length_of(task, part);
  return sum;
}

void check(const std::vector<TableTask>& tasks) {
  for (const TableTask& task : tasks) {
    const std::string place = fmt::format("task '{}'", task.name);
    if (task.period <= Time{} || task.worst <= Time{})
      throw InputError(place, "its period and its worst time must be above 0");
    if (task.deadline > task.period)
      throw InputError(
          place, fmt::format("its deadline of {} is longer than its period of {}",
                             millrace::to_text(task.deadline), millrace::to_text(task.period)));
    check_transfers(task, place);
    if (task.deadline < length_of(task))
      throw InputError(place,
                       fmt::format("its worst time of {}{} is longer than its deadline of {}",
                                   millrace::to_text(length_of(task)),
                                   task.transfers ? ", transfers included," : "",
                                   millrace::to_text(task.deadline)));
    if (task.units.empty()) throw InputError(place, "it has no unit to run on");
    if (task.preemptive && task.units.size() > 1)
      throw InputError(place, "what runs on several units at once cannot be cut into pieces");
  }
  for (std::size_t t = 0; t < tasks.size(); ++t)
    if (!tasks[t].after.empty()) check_order(tasks, t, 0);
}

Time hyperperiod(const std::vector<TableTask>& tasks) {
  std::int64_t result = 1;
  for (const TableTask& task : tasks) {
    const std::int64_t factor = task.period.count() / std::gcd(result, task.period.count());
    const std::optional<std::int64_t> next = product(result, factor);
    if (!next)
      throw InputError(fmt::format("task '{}'", task.name),
                       fmt::format("with its period of {} the table would be longer than 2^63 ns; "
                                   "harmonise the periods",
                                   millrace::to_text(task.period)));
    result = *next;
  }
  std::int64_t jobs = 0;
  for (const TableTask& task : tasks) {
    jobs += result / task.period.count();
    if (jobs > most_jobs)
      throw InputError(fmt::format("task '{}'", task.name),
                       fmt::format("the table of {} would have more than {} jobs; harmonise the "
                                   "periods",
                                   millrace::to_text(Time(result)), most_jobs));
  }
  return Time(result);
}

std::vector<Time> frames(const std::vector<TableTask>& tasks) {
  const std::int64_t cycle = hyperperiod(tasks).count();
  std::int64_t shortest = 1, longest = cycle;
  for (const TableTask& task : tasks) {
    for (const TablePart part : all_parts)
      if (part != TablePart::run || !task.preemptive)
        shortest = std::max(shortest, length_of(task, part).count());
    longest = std::min(longest, task.deadline.count());
  }
  const auto has_whole_frame = [&](std::int64_t frame) {
    return std::ranges::all_of(tasks, [&](const TableTask& task) {
      return 2 * frame - std::gcd(frame, task.period.count()) <= task.deadline.count();
    });
  };
  // A frame is the cycle by a whole number, which lies between these two.
  std::vector<Time> result;
  constexpr std::int64_t most_tries = 1'000'000;
  const std::int64_t first = (cycle + longest - 1) / longest;
  const std::int64_t last = std::min(cycle / shortest, first + most_tries);
  for (std::int64_t parts = first; parts <= last; ++parts)
    if (cycle % parts == 0 && has_whole_frame(cycle / parts)) result.emplace_back(cycle / parts);
  return result;
}

Harmonised harmonised(const std::vector<TableTask>& tasks) {
  if (tasks.empty()) return {};
  double shortest = static_cast<double>(tasks[0].period.count());
  for (const TableTask& task : tasks)
    shortest = std::min(shortest, static_cast<double>(task.period.count()));
  double best_base = shortest, best_sum = -1;
  for (const TableTask& candidate : tasks) {
    const auto period = static_cast<double>(candidate.period.count());
    const double base = period / std::exp2(std::ceil(std::log2(period / shortest) - 1e-12));
    double sum = 0;
    for (const TableTask& task : tasks)
      sum += static_cast<double>(task.worst.count()) /
             harmonic_period(static_cast<double>(task.period.count()), base);
    if (best_sum >= 0 && sum >= best_sum) continue;
    best_sum = sum;
    best_base = base;
  }
  Harmonised result{tasks};
  const auto base = static_cast<std::int64_t>(best_base);
  for (TableTask& task : result.tasks) {
    const double before = utilisation_of(task);
    std::int64_t period = base;
    while (period <= task.period.count() / 2) period *= 2;
    task.period = Time(std::min(period, task.period.count()));
    task.deadline = std::min(task.deadline, task.period);
    result.added_utilisation += utilisation_of(task) - before;
  }
  return result;
}

namespace {

/// What a part of a job had so far.
struct Progress {
  Time had{}, end{};
  std::int64_t pieces = 0;
};
using JobProgress = std::array<Progress, all_parts.size()>;

Verdict wrong(const TableTask& task, std::int64_t job, const std::string& what) {
  return Verdict::no(fmt::format("job {} of '{}' {}", job, task.name, what));
}

Verdict replay_entry(const StaticTable& table, const std::vector<TableTask>& tasks,
                     const TableEntry& entry) {
  const TableTask& task = tasks[entry.task];
  if (entry.begin < task.period * entry.job) return wrong(task, entry.job, "begins too early");
  if (entry.end > deadline_of_job(tasks, entry.task, entry.job))
    return wrong(task, entry.job, "misses its deadline");
  if (entry.end <= entry.begin) return wrong(task, entry.job, "ends before it begins");
  if (table.frame > Time{} && entry.begin / table.frame != (entry.end - Time{1}) / table.frame)
    return wrong(task, entry.job, "crosses the end of a frame");
  return Verdict::yes();
}

/// Adds the entry to its job, whose earlier parts have to be done.
Verdict go_on(JobProgress& job, const TableTask& task, const TableEntry& entry) {
  for (const TablePart part : all_parts) {
    if (part == entry.part) break;
    const Progress& before = job[static_cast<std::size_t>(part)];
    if (before.had != length_of(task, part) || before.end > entry.begin)
      return wrong(
          task, entry.job,
          fmt::format("begins '{}' before '{}' has ended", to_text(entry.part), to_text(part)));
  }
  Progress& now = job[static_cast<std::size_t>(entry.part)];
  now.had += entry.end - entry.begin;
  now.end = entry.end;
  const bool may_be_cut = task.preemptive && entry.part == TablePart::run;
  if (++now.pieces > 1 && !may_be_cut) return wrong(task, entry.job, "is cut into pieces");
  return Verdict::yes();
}

/// Whether what the job reads is there when the entry begins.
Verdict has_inputs(const std::vector<std::vector<JobProgress>>& progress,
                   const std::vector<TableTask>& tasks, const TableEntry& entry) {
  const TableTask& task = tasks[entry.task];
  for (const std::size_t before : task.after) {
    const std::int64_t job = job_read(task, entry.job, tasks[before]);
    for (const TablePart part : all_parts) {
      const Progress& of =
          progress[before][static_cast<std::size_t>(job)][static_cast<std::size_t>(part)];
      if (of.had != length_of(tasks[before], part) || of.end > entry.begin)
        return wrong(
            task, entry.job,
            fmt::format("begins before job {} of '{}' has ended", job, tasks[before].name));
    }
  }
  return Verdict::yes();
}

Verdict has_all(const JobProgress& job, const TableTask& task, std::size_t number) {
  for (const TablePart part : all_parts) {
    const Time had = job[static_cast<std::size_t>(part)].had, due = length_of(task, part);
    if (had != due)
      return wrong(task, static_cast<std::int64_t>(number),
                   fmt::format("gets {}, not {}", millrace::to_text(had), millrace::to_text(due)));
  }
  return Verdict::yes();
}

}  // namespace

Verdict replay(const StaticTable& table, const std::vector<TableTask>& tasks) {
  std::vector<std::vector<JobProgress>> progress;
  for (const TableTask& task : tasks)
    progress.emplace_back(static_cast<std::size_t>(table.cycle / task.period));
  std::vector<Time> busy_until(number_of_units(tasks));
  Time last{};
  for (const TableEntry& entry : table.entries) {
    if (entry.task >= tasks.size() || entry.job < 0 ||
        entry.job >= static_cast<std::int64_t>(progress[entry.task].size()))
      return Verdict::no("the table names a job that is not there");
    const TableTask& task = tasks[entry.task];
    if (entry.begin < last) return wrong(task, entry.job, "is not in the order of begins");
    last = entry.begin;
    if (const Verdict verdict = replay_entry(table, tasks, entry); !verdict) return verdict;
    for (const std::size_t unit : units_of(task, entry.part)) {
      if (entry.begin < busy_until[unit]) return wrong(task, entry.job, "overlaps another");
      busy_until[unit] = entry.end;
    }
    if (const Verdict verdict = has_inputs(progress, tasks, entry); !verdict) return verdict;
    JobProgress& job = progress[entry.task][static_cast<std::size_t>(entry.job)];
    if (const Verdict verdict = go_on(job, task, entry); !verdict) return verdict;
  }
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (std::size_t j = 0; j < progress[t].size(); ++j)
      if (const Verdict verdict = has_all(progress[t][j], tasks[t], j); !verdict) return verdict;
  return Verdict::yes();
}

std::vector<double> table_loads(const StaticTable& table, const std::vector<TableTask>& tasks) {
  std::vector<double> loads(number_of_units(tasks), 0);
  for (const TableEntry& entry : table.entries)
    for (const std::size_t unit : units_of(tasks[entry.task], entry.part))
      loads[unit] += static_cast<double>((entry.end - entry.begin).count()) /
                     static_cast<double>(table.cycle.count());
  return loads;
}

}  // namespace millrace::realtime
