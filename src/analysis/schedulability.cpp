#include "analysis/schedulability.h"

#include <fmt/format.h>

#include <algorithm>

#include "deployment/releases.h"

namespace millrace::analysis {
namespace {

/// What realtime says, in the words of systems.
std::string reason_of(const system::System& system, const DeadlineAnswers& found) {
  const std::string where = fmt::format(
      "scenario '{}', level {}: ", system[found.operation.scenario].name, found.operation.level);
  if (found.answers.is_schedulable()) {
    const std::string of_chain = chain_reason(system, found.chains);
    return of_chain.empty() ? "" : where + of_chain;
  }
  const realtime::Bounds& bounds = found.answers.bounds;
  for (const realtime::Utilisation& one : found.answers.utilisations)
    if (one.is_overloaded) return where + found.answers.reason;
  if (!bounds.unsettled.empty()) return where + found.answers.reason;
  for (std::size_t f = 0; f < deployment::group_flows(found.tasks); ++f) {
    const realtime::Flow& flow = found.tasks.flows[f];
    const Time response = bounds.flows[f].response;
    if (response == realtime::unbounded && bounds.reasons[f])
      return where + fmt::format("group '{}' has no bound of its response: {}", flow.name,
                                 no_bound_text(found.tasks, *bounds.reasons[f]));
    if (response > *flow.deadline)
      return where + fmt::format("group '{}' may need {} and has {}, {} too long", flow.name,
                                 to_text(response), to_text(*flow.deadline),
                                 to_text(response - *flow.deadline));
  }
  return where + found.answers.reason;
}

/// By GroupId, the controller included.
std::vector<std::optional<Time>> responses_of(const deployment::Deployment& deployment,
                                              const DeadlineAnswers& found) {
  std::vector<std::optional<Time>> responses(deployment.system.groups.size());
  const auto& groups = deployment.system[found.operation.scenario].groups;
  for (std::size_t f = 0; f < std::min(groups.size(), found.answers.bounds.flows.size()); ++f)
    if (const Time response = found.answers.bounds.flows[f].response;
        response != realtime::unbounded)
      responses[groups[f].index] = response + deployment.system.overhead;
  return responses;
}

DeadlineAnswers check_operation(const deployment::Deployment& deployment, const board::Board& board,
                                const deployment::Operation& at,
                                const realtime::SimulationOptions& simulation) {
  DeadlineAnswers result{.operation = at, .tasks = {}, .answers = {}, .power = {}, .reason = {}};
  const deployment::Setting* setting = setting_for(deployment, at.scenario, at.level);
  result.has_setting = setting != nullptr;
  if (setting) result.operation.clocks = setting->clocks;
  result.tasks = task_system(deployment, board, result.operation);
  result.answers = realtime::answer(result.tasks, {{}, simulation, false});
  result.power = expected_power(deployment, board, result.operation);
  result.chains = chain_answers(deployment.system, {at.scenario, at.level},
                                responses_of(deployment, result));
  result.reason = reason_of(deployment.system, result);
  return result;
}

}  // namespace

std::vector<DeadlineAnswers> check_deadlines(const deployment::Deployment& deployment,
                                             const board::Board& board,
                                             const DeadlineQuestions& questions) {
  std::vector<DeadlineAnswers> result;
  const system::System& system = deployment.system;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    if (questions.scenario && questions.scenario->index != s) continue;
    for (std::int64_t level = 0; level < system.levels; ++level)
      if (!questions.level || *questions.level == level)
        result.push_back(check_operation(deployment, board, {system::ScenarioId(s), level},
                                         questions.simulation));
  }
  return result;
}

bool DeploymentAnswers::is_schedulable() const {
  return std::ranges::all_of(operations, &DeadlineAnswers::is_schedulable);
}

}  // namespace millrace::analysis
