#include "explore/admission/tabled.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <utility>

#include "base/error.h"

namespace millrace::explore {
namespace {

using TableClock = std::chrono::steady_clock;
using Decided = realtime::TableDecision::Answer;

TableClock::time_point in_seconds_from_now(double seconds) {
  constexpr double longest = 1e6;
  return TableClock::now() + std::chrono::duration_cast<TableClock::duration>(
                                 std::chrono::duration<double>(std::clamp(seconds, 0.0, longest)));
}
double seconds_until(TableClock::time_point until) {
  return std::chrono::duration<double>(until - TableClock::now()).count();
}

/// Whether, of two tasks on common units, the longer one is never done between two jobs of the
/// other.
bool never_fit(const AdmissionProblem& problem, const Placed& a, const Placed& b) {
  const AdmissionTask &often = problem.tasks[a.task], &rare = problem.tasks[b.task];
  const Time deadline = std::min(often.deadline, often.period);
  return *rare.times[b.processor] > often.period + deadline - 2 * *often.times[a.processor];
}

bool share_a_unit(const AdmissionProblem& problem, std::size_t a, std::size_t b) {
  const auto& units = problem.processors[b].units;
  return std::ranges::any_of(problem.processors[a].units, [&](std::size_t unit) {
    return std::ranges::find(units, unit) != units.end();
  });
}

/// The search with one set of periods.
class TabledSearch {
 public:
  TabledSearch(const AdmissionProblem& problem, const AdmissionOptions& options,
               const TableRules& rules, TableClock::time_point until)
      : options_(options), rules_(rules), until_(until) {
    result_.problem = problem;
    problem_ = problem;
  }

  TabledAdmission run() {
    for (;;) {
      AdmissionOptions options = options_;
      const double share = result_.refused == 0 ? 0.6 : 0.3;  // the rest is for other choices
      options.seconds = std::max(0.01, share * seconds_until(until_));
      Admission admission = solve_program(problem_, options);
      if (result_.refused == 0) result_.admission = admission;
      if (admission.answer != Admission::Answer::fits) return without_table(admission.answer);
      if (has_table(admission.choice)) {
        result_.admission = std::move(admission);
        if (unproven_) result_.admission.bound = std::min(result_.admission.bound, *unproven_);
        return std::move(result_);
      }
      if (!unproven_ && !is_proven_) unproven_ = admission.bound;
      if (++result_.refused == 1) refuse_pairs();
      if (TableClock::now() > until_) return without_table(Admission::Answer::unknown);
    }
  }

 private:
  TabledAdmission without_table(Admission::Answer answer) {
    result_.is_none_proven = is_proven_ && answer == Admission::Answer::does_not_fit;
    return std::move(result_);
  }

  bool has_table(const AdmissionChoice& choice) {
    std::vector<realtime::TableTask> tasks = table_tasks(problem_, choice);
    tasks.resize(tasks.size() - rules_.kept.tasks.size());
    std::vector<realtime::PartTable> parts;
    for (const std::vector<std::size_t>& part : realtime::independent_parts(tasks)) {
      realtime::TableDecision decision = decide(tasks, part);
      if (decision.answer == Decided::exists) {
        parts.push_back({part, std::move(decision.table)});
        continue;
      }
      is_proven_ = is_proven_ && decision.answer == Decided::none;
      refuse(choice, decision.answer == Decided::none ? to_blame(tasks, part) : part);
      return false;
    }
    result_.tasks = tasks;
    for (realtime::TableTask kept : rules_.kept.tasks) {
      for (std::size_t& before : kept.after) before += tasks.size();
      result_.tasks.push_back(std::move(kept));
    }
    // With frames, if possible; a heuristic finds it.
    if (rules_.kept.tasks.empty()) result_.table = in_frames(tasks);
    if (!result_.table) result_.table = realtime::joined_table(tasks, parts, rules_.kept);
    return true;
  }

  static std::optional<realtime::StaticTable> in_frames(
      const std::vector<realtime::TableTask>& tasks) {
    constexpr std::int64_t most = 20'000;  // jobs of the table
    std::int64_t jobs = 0;
    const Time cycle = realtime::hyperperiod(tasks);
    for (const realtime::TableTask& task : tasks) jobs += cycle / task.period;
    return jobs <= most ? realtime::make_table(tasks) : std::nullopt;
  }

  realtime::TableDecision decide(const std::vector<realtime::TableTask>& tasks,
                                 const std::vector<std::size_t>& part) const {
    return realtime::decide_table(realtime::only(tasks, part), rules_.kept, {.until = until_});
  }

  /// Tasks of the part that have no table together; without any one of them the rest may have.
  std::vector<std::size_t> to_blame(const std::vector<realtime::TableTask>& tasks,
                                    std::vector<std::size_t> part) const {
    for (std::size_t i = part.size(); i-- > 0 && part.size() > 1;) {
      std::vector<std::size_t> fewer = part;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      const auto limits = realtime::TableLimits{.states = 20'000, .until = until_};
      const auto decision =
          realtime::decide_table(realtime::only(tasks, fewer), rules_.kept, limits);
      if (decision.answer == Decided::none) part = std::move(fewer);
    }
    return part;
  }

  void refuse(const AdmissionChoice& choice, const std::vector<std::size_t>& tasks) {
    std::vector<Placed> places;
    for (const std::size_t task : tasks) places.push_back({task, choice[task]});
    problem_.refused.push_back(std::move(places));
  }

  /// All pairs that do not even fit between each other.
  void refuse_pairs() {
    const std::vector<std::size_t> alike = are_alike(problem_);
    for (std::size_t a = 0; a < problem_.tasks.size(); ++a)
      for (std::size_t b = 0; b < problem_.tasks.size(); ++b)
        if (a != b && alike[a] == a && alike[b] == b) refuse_pairs_of(a, b);
  }
  void refuse_pairs_of(std::size_t a, std::size_t b) {
    for (const std::size_t on_a : options_of(problem_.tasks[a]))
      for (const std::size_t on_b : options_of(problem_.tasks[b]))
        if (share_a_unit(problem_, on_a, on_b) && never_fit(problem_, {a, on_a}, {b, on_b}))
          problem_.refused.push_back({{a, on_a}, {b, on_b}});
  }

  const AdmissionOptions& options_;
  const TableRules& rules_;
  const TableClock::time_point until_;
  AdmissionProblem problem_;  // with what is refused
  TabledAdmission result_;
  bool is_proven_ = true;
  std::optional<double> unproven_;  // the bound, before a choice was refused without a proof
};

double total_utilisation(const AdmissionProblem& problem, const AdmissionChoice& choice) {
  double sum = 0;
  for (std::size_t t = 0; t < choice.size(); ++t)
    sum += utilisation(problem.tasks[t], choice[t]).value();
  return sum;
}

TabledAdmission with_periods_as_given(const AdmissionProblem& problem,
                                      const AdmissionOptions& options, const TableRules& rules,
                                      TableClock::time_point until) {
  try {
    return TabledSearch(problem, options, rules, until).run();
  } catch (const InputError& error) {  // too long a table
    TabledAdmission result{.admission = solve_program(problem, options), .problem = problem};
    result.too_long = error.what();
    return result;
  }
}

/// The best of all bases.
TabledAdmission with_harmonised(const AdmissionProblem& problem, const AdmissionOptions& options,
                                const TableRules& rules, TableClock::time_point until) {
  TabledAdmission best{.admission = {}, .problem = problem};
  best.is_none_proven = true;
  double bound = std::numeric_limits<double>::infinity();
  std::vector<Time> bases = harmonic_bases(problem);
  for (std::size_t left = bases.size(); left > 0; --left) {
    const AdmissionProblem shorter = with_harmonised_periods(
        problem, bases[left - 1], problem.tasks.size() - rules.kept.tasks.size());
    const auto share = in_seconds_from_now(seconds_until(until) / static_cast<double>(left));
    TabledAdmission found = with_periods_as_given(shorter, options, rules, share);
    best.is_none_proven = best.is_none_proven && (found.table || found.is_none_proven);
    if (found.table || !found.is_none_proven) bound = std::min(bound, found.admission.bound);
    if (!found.table) continue;
    if (best.table && found.admission.cost >= best.admission.cost) continue;
    found.is_harmonised = true;
    found.added_utilisation = total_utilisation(shorter, found.admission.choice) -
                              total_utilisation(problem, found.admission.choice);
    const bool none = best.is_none_proven;
    best = std::move(found);
    best.is_none_proven = none;
  }
  best.admission.bound = std::min(best.admission.bound, bound);
  return best;
}

}  // namespace

std::vector<realtime::TableTask> table_tasks(const AdmissionProblem& problem,
                                             const AdmissionChoice& choice) {
  std::vector<realtime::TableTask> tasks;
  for (std::size_t t = 0; t < choice.size(); ++t) {
    const AdmissionTask& from = problem.tasks[t];
    const SharedProcessor& on = problem.processors[choice[t]];
    realtime::TableTask task{from.name, from.period, std::min(from.deadline, from.period),
                             *from.times[choice[t]], on.units};
    const LinkTimes transfers = transfers_of(from, choice[t]);
    if (transfers != LinkTimes{}) task.transfers = {transfers.in, transfers.out, *on.link};
    task.after = from.after;
    task.end_to_end = from.end_to_end;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

AdmissionProblem with_harmonised_periods(const AdmissionProblem& problem, Time base,
                                         std::size_t first) {
  AdmissionProblem result = problem;
  for (AdmissionTask& task : std::span(result.tasks).first(first)) {
    Time period = base;
    while (period <= task.period / 2) period *= 2;
    task.period = std::min(period, task.period);
    task.deadline = std::min(task.deadline, task.period);
  }
  return result;
}

std::vector<Time> harmonic_bases(const AdmissionProblem& problem) {
  std::vector<Time> bases;
  if (problem.tasks.empty()) return bases;
  const Time shortest = std::ranges::min(problem.tasks, {}, &AdmissionTask::period).period;
  for (const AdmissionTask& task : problem.tasks) {
    Time base = task.period;
    while (base > shortest) base = Time(base.count() / 2);
    if (base > Time{} && std::ranges::find(bases, base) == bases.end()) bases.push_back(base);
  }
  return bases;
}

TabledAdmission solve_with_table(const AdmissionProblem& problem, const AdmissionOptions& options,
                                 const TableRules& rules) {
  const TableClock::time_point until = in_seconds_from_now(options.seconds);
  if (rules.periods == TablePeriods::as_given)
    return with_periods_as_given(problem, options, rules, until);
  if (rules.periods == TablePeriods::harmonised) {
    TabledAdmission found = with_harmonised(problem, options, rules, until);
    if (!found.table) found.admission = solve_program(problem, options);
    return found;
  }
  const auto half = in_seconds_from_now(options.seconds / 2);
  TabledAdmission given = with_periods_as_given(problem, options, rules, half);
  if (given.table || given.admission.answer != Admission::Answer::fits) return given;
  TabledAdmission shorter = with_harmonised(problem, options, rules, until);
  if (shorter.table) return shorter;
  given.is_none_proven = given.is_none_proven && shorter.is_none_proven;
  return given;
}

}  // namespace millrace::explore
