#include "api/admission/table.h"

#include <chrono>
#include <utility>

namespace millrace::api {
namespace {

std::string why_no_table(const explore::TabledAdmission& tabled, explore::TablePeriods periods) {
  const std::string other = "; give longer deadlines, or ask with --no-table for utilisation only";
  if (!tabled.too_long.empty() && periods == explore::TablePeriods::as_given)
    return tabled.too_long + ", so leave out --keep-periods";
  if (tabled.is_none_proven)
    return "there is no static table in which nothing is interrupted and every deadline is met, "
           "on whichever processors" +
           other;
  return "no static table was found in which nothing is interrupted and every deadline is met" +
         other;
}

void take_tabled(explore::TabledAdmission tabled, explore::TablePeriods periods,
                 AdmitResult& result) {
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

void solve(const AdmitRequest& request, const explore::AdmissionProblem& problem,
           const realtime::KeptTable& kept, AdmitResult& result) {
  if (request.table)
    return take_tabled(
        explore::solve_with_table(problem, request.admission, {request.periods, kept}),
        request.periods, result);
  result.admission = solve_program(problem, request.admission);
}

/// All that runs has one processor only.
explore::AdmissionProblem with_places_kept(const AdmitResult& result, const RunningSet& running) {
  explore::AdmissionProblem kept = result.problem;
  const std::size_t added = kept.tasks.size() - running.choice.size();
  for (std::size_t t = 0; t < running.choice.size(); ++t)
    for (std::size_t p = 0; p < kept.processors.size(); ++p)
      if (p != running.choice[t]) kept.tasks[added + t].times[p].reset();
  return kept;
}

/// Whether it is decided: all fit, and have a table if one is asked for.
bool is_settled(const AdmitRequest& request, const AdmitResult& result) {
  return result.fits() && (!request.table || result.table);
}

void decide_beside(const AdmitRequest& request, const RunningSet& running, AdmitResult& result) {
  const std::size_t added = result.problem.tasks.size() - running.choice.size();
  const explore::AdmissionProblem kept = with_places_kept(result, running);
  if (request.table && running.table) {
    solve(request, kept, *running.table, result);
    result.stays = result.keeps_table = is_settled(request, result);
    if (result.stays || request.beside != nullptr) return;
  }
  solve(request, kept, {}, result);
  result.stays = is_settled(request, result);
  if (result.stays) return;
  solve(request, result.problem, {}, result);
  for (std::size_t t = 0; t < running.choice.size() && !result.admission.choice.empty(); ++t)
    if (result.admission.choice[added + t] != running.choice[t])
      result.moved.push_back(result.problem.tasks[added + t].name);
}

}  // namespace

void decide(const AdmitRequest& request, const RunningSet& running, AdmitResult& result) {
  const auto begin = std::chrono::steady_clock::now();
  if (running.choice.empty())
    solve(request, result.problem, {}, result);
  else
    decide_beside(request, running, result);
  result.took = std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - begin);
}

}  // namespace millrace::api
