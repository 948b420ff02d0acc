#include "realtime/answers.h"

#include <fmt/format.h>

#include "realtime/sensitivity.h"

namespace millrace::realtime {
namespace {

std::string missed_text(const TaskSystem& system, const Bounds& bounds) {
  for (std::size_t f = 0; f < system.flows.size(); ++f) {
    const Flow& flow = system.flows[f];
    if (!flow.deadline || judged(flow, bounds.flows[f]) <= *flow.deadline) continue;
    return fmt::format("flow '{}' may miss its deadline", flow.name);
  }
  for (std::size_t t = 0; t < system.tasks.size(); ++t) {
    const Task& task = system.tasks[t];
    if (task.deadline && bounds.tasks[t].response > *task.deadline)
      return fmt::format("task '{}' may miss its deadline", task.name);
  }
  return {};
}

std::string reason_of(const TaskSystem& system, const RealtimeAnswers& answers) {
  for (std::size_t r = 0; r < answers.utilisations.size(); ++r)
    if (answers.utilisations[r].is_overloaded)
      return overload_text(system, ResourceId(r), answers.utilisations[r]);
  if (!answers.bounds.unsettled.empty()) return unsettled_text(system, answers.bounds);
  return missed_text(system, answers.bounds);
}

bool has_overload(const std::vector<Utilisation>& utilisations) {
  for (const Utilisation& one : utilisations)
    if (one.is_overloaded) return true;
  return false;
}

}  // namespace

RealtimeAnswers answer(const TaskSystem& system, const RealtimeQuestions& questions) {
  check(system);
  AnalysisOptions thorough = questions.analysis;
  thorough.splits = PathSplits::always;
  RealtimeAnswers answers{.utilisations = utilisations(system),
                          .bounds = analyse(system, thorough)};
  answers.reason = reason_of(system, answers);
  if (questions.simulation.runs > 0 && !has_overload(answers.utilisations))
    answers.simulated = simulate(system, questions.simulation);
  if (!questions.growth) return answers;
  answers.growth_millionths = largest_growth(system, questions.analysis);
  if (answers.growth_millionths)
    for (std::size_t t = 0; t < system.tasks.size(); ++t)
      answers.largest_times.push_back(largest_time(system, TaskId(t), questions.analysis));
  return answers;
}

}  // namespace millrace::realtime
