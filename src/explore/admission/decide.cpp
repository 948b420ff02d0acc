#include "explore/admission/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace millrace::explore {
namespace {

std::string why_no_table(const TabledAdmission& tabled, TablePeriods periods) {
  const std::string other = "; give longer deadlines, or ask with ⟨no_table⟩ for utilisation only";
  if (!tabled.too_long.empty() && periods == TablePeriods::as_given)
    return tabled.too_long + ", so leave out ⟨keep_periods⟩";
  if (tabled.is_none_proven)
    return "there is no static table in which nothing is interrupted and every deadline is met, "
           "on whichever processors" +
           other;
  return "no static table was found in which nothing is interrupted and every deadline is met" +
         other;
}

void take_tabled(TabledAdmission tabled, TablePeriods periods,
                 AdmitDecision& result) {
  result.admission = std::move(tabled.admission);
  result.table = std::move(tabled.table);
  result.table_tasks = std::move(tabled.tasks);
  result.is_harmonised = tabled.is_harmonised;
  result.added_utilisation = tabled.added_utilisation;
  result.refused = tabled.refused;
  result.is_table_lacking = result.fits() && !result.table;
  result.no_table.clear();
  if (result.is_table_lacking) result.no_table = why_no_table(tabled, periods);
}

void solve(const AdmitOptions& options, const AdmissionProblem& problem,
           const realtime::KeptTable& kept, AdmitDecision& result) {
  if (options.table)
    return take_tabled(
        solve_with_table(problem, options.admission, {options.periods, kept}),
        options.periods, result);
  result.admission = solve_program(problem, options.admission);
}

/// All that runs has one processor only.
AdmissionProblem with_places_kept(const AdmitDecision& result, const RunningSet& running) {
  AdmissionProblem kept = result.problem;
  const std::size_t added = kept.tasks.size() - running.choice.size();
  for (std::size_t t = 0; t < running.choice.size(); ++t)
    for (std::size_t p = 0; p < kept.processors.size(); ++p)
      if (p != running.choice[t]) kept.tasks[added + t].times[p].reset();
  return kept;
}

/// Whether it is decided: all fit, and have a table if one is asked for.
bool is_settled(const AdmitOptions& options, const AdmitDecision& result) {
  return result.fits() && (!options.table || result.table);
}

void decide_beside(const AdmitOptions& options, const RunningSet& running, AdmitDecision& result) {
  const std::size_t added = result.problem.tasks.size() - running.choice.size();
  const AdmissionProblem kept = with_places_kept(result, running);
  if (options.table && running.table) {
    solve(options, kept, *running.table, result);
    result.stays = result.keeps_table = is_settled(options, result);
    if (result.stays || options.keeps_table) return;
  }
  solve(options, kept, {}, result);
  result.stays = is_settled(options, result);
  if (result.stays) return;
  solve(options, result.problem, {}, result);
  for (std::size_t t = 0; t < running.choice.size() && !result.admission.choice.empty(); ++t)
    if (result.admission.choice[added + t] != running.choice[t])
      result.moved.push_back(result.problem.tasks[added + t].name);
}

/// A job of a table, wherever its task stands in it.
using EntryKey = std::tuple<std::size_t, std::int64_t, realtime::TablePart, Time>;

}  // namespace

AdmissionProblem AdmitDecision::as_run() const {
  AdmissionProblem result = problem;
  for (std::size_t t = 0; table && t < table_tasks.size(); ++t)
    result.tasks[t].period = table_tasks[t].period;
  return result;
}

std::vector<double> weights_of(const AdmitOptions& options, const AdmitDecision& decision) {
  std::vector<double> weights(decision.problem.tasks.size(), 1);
  std::vector<std::string_view> known;
  for (const GroupVariants& group : decision.groups) known.push_back(group.name);
  for (const auto& [name, weight] : options.weights) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError("⟨weight⟩",
                       fmt::format("there is no group '{}'{}", name, did_you_mean(name, known)));
    weights[static_cast<std::size_t>(found - known.begin())] = weight;
  }
  return weights;
}

void decide(const AdmitOptions& options, const RunningSet& running, AdmitDecision& result) {
  const auto begin = std::chrono::steady_clock::now();
  if (running.choice.empty())
    solve(options, result.problem, {}, result);
  else
    decide_beside(options, running, result);
  result.took = std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - begin);
}

bool grew(AdmitDecision& decision, std::size_t task, Time seen) {
  const std::size_t processor = decision.admission.choice[task];
  Time& known = *decision.problem.tasks[task].times[processor];
  if (seen <= known) return false;
  known = seen;
  decision.groups[task].variants[processor].time = seen;
  return true;
}

Verdict keeps_entries(const AdmitDecision& now, const AdmitDecision& next) {
  if (next.table_tasks.size() < now.table_tasks.size())
    return Verdict::no("a group that runs is not in the new table");
  for (std::size_t t = 0; t < now.table_tasks.size(); ++t)
    if (next.table_tasks[t] != now.table_tasks[t])
      return Verdict::no(fmt::format("group '{}' runs otherwise than when it was asked about",
                                     now.table_tasks[t].name));
  if (next.table->cycle % now.table->cycle != Time{})
    return Verdict::no("the new table is no multiple of the one that runs");
  std::map<EntryKey, Time> ends;
  for (const realtime::TableEntry& entry : next.table->entries)
    ends[{entry.task, entry.job, entry.part, entry.begin}] = entry.end;
  for (Time from{}; from < next.table->cycle; from += now.table->cycle)
    for (const realtime::TableEntry& entry : now.table->entries) {
      const std::int64_t before = from / now.table_tasks[entry.task].period;
      const auto found =
          ends.find({entry.task, entry.job + before, entry.part, from + entry.begin});
      if (found == ends.end() || found->second != from + entry.end)
        return Verdict::no(fmt::format("job {} of '{}' would run at another time",
                                       entry.job + before, now.table_tasks[entry.task].name));
    }
  return Verdict::yes();
}

}  // namespace millrace::explore
