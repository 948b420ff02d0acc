#include "api/admission/table.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace millrace::api {

void add_table(const AdmitRequest& request, AdmitResult& result) {
  result.table_tasks.clear();
  result.table.reset();
  result.no_table.clear();
  result.added_utilisation = 0;
  result.is_table_lacking = false;
  if (!result.fits() || !request.table) return;
  for (std::size_t t = 0; t < result.problem.tasks.size(); ++t) {
    const explore::AdmissionTask& task = result.problem.tasks[t];
    const std::size_t processor = result.admission.choice[t];
    result.table_tasks.push_back({task.name, task.period, std::min(task.deadline, task.period),
                                  *task.times[processor],
                                  result.problem.processors[processor].units});
    const explore::LinkTimes transfers = transfers_of(task, processor);
    if (transfers != explore::LinkTimes{})
      result.table_tasks.back().transfers = {transfers.in, transfers.out,
                                             *result.problem.processors[processor].link};
  }
  if (request.harmonise) {
    realtime::Harmonised harmonised = realtime::harmonised(result.table_tasks);
    result.table_tasks = std::move(harmonised.tasks);
    result.added_utilisation = harmonised.added_utilisation;
  }
  try {
    result.table = realtime::make_table(result.table_tasks);
    result.is_table_lacking = !result.table;
    if (!result.table)
      result.no_table =
          "no static table was found in which nothing is interrupted and every deadline is met; "
          "give longer deadlines, try --goal largest-load, or ask with --no-table for utilisation "
          "only";
  } catch (const InputError& error) {  // too long a table: nothing is known of its deadlines
    result.is_table_lacking = true;
    result.no_table = std::string(error.what()) + " with --harmonise";
  }
}

void choose_for_a_table(const AdmitRequest& request, AdmitResult& result) {
  using Goal = explore::AdmissionGoal;
  const bool has_energy = std::ranges::none_of(
      result.problem.tasks, [](const auto& task) { return task.energy.empty(); });
  std::optional<AdmitResult> best;
  for (const Goal goal : {Goal::largest_load, Goal::total_utilisation, Goal::energy}) {
    if (goal == request.admission.goal || (goal == Goal::energy && !has_energy)) continue;
    explore::AdmissionOptions other = request.admission;
    other.goal = goal;
    other.seconds /= 3;  // all of them together as long as the one that was asked for
    AdmitResult tried = result;
    tried.admission.choice = solve_program(result.problem, other).choice;
    if (tried.admission.choice.empty()) continue;
    tried.admission.cost = cost_of(result.problem, request.admission, tried.admission.choice);
    add_table(request, tried);
    const bool is_better = !best || tried.admission.cost < best->admission.cost;
    if (tried.table && is_better) best = std::move(tried);
  }
  if (!best) return;
  result = std::move(*best);
  result.is_chosen_for_table = true;
}

}  // namespace millrace::api
