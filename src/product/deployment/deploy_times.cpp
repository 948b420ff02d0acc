#include "product/deployment/deploy_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/schedulability.h"
#include "base/error.h"
#include "product/deployment/deploy_options.h"
#include "product/deployment/measure_deployment.h"
#include "product/deployment/profile_system.h"
#include "product/deployment/task_networks.h"
#include "system/task_times.h"

namespace millrace::product {
namespace {

void check_none_to_measure(const system::System& system) {
  for (const system::Group& group : system.groups)
    for (const system::GraphTask& task : group.graph.tasks)
      if (system::has_times_to_measure(task))
        throw InputError(task.place,
                         fmt::format("the time of task '{}' is to be measured, and the board '{}' "
                                     "is not here; add the task's worst time in ms",
                                     task.name, system.board));
}

}  // namespace

std::optional<explore::SystemProfile> add_times(const DeployRequest& request,
                                                const board::Board& board,
                                                system::System& system) {
  std::optional<explore::SystemProfile> profile;
  check_networks_of_tasks(system, board);
  if (!request.profile.empty()) profile = explore::read_system_profile(request.profile);
  const bool is_here = system.board.empty();
  if (!is_here && profile)
    throw InputError("⟨profile⟩", fmt::format("has times of a machine, and those of the board '{}' "
                                              "are modelled; leave out one of the two",
                                              system.board));
  if (profile) {
    explore::fill_in(system, board, {*profile, request.profile});
  } else if (!is_here) {
    check_none_to_measure(system);
  } else if (system::has_times_to_measure(system)) {
    const std::int64_t samples = samples_of(request) > 0 ? samples_of(request) : samples_of({});
    explore::SystemProfile measured{system.name, board::hash_of(board), {}, {}, {}};
    measured.tasks =
        measured_tasks(system, board, {samples, {.libraries = request.plugins}}, request.context);
    explore::fill_in(system, board, {measured, request.system});
  }
  if (is_here) add_times_of_steps(system, request.context);
  return profile;
}

std::string measure_decided(const DeployRequest& request, DeployResult& result) {
  const auto shown = request.context.begin("measuring tasks");
  deployment::Deployment& deployment = *result.deployment;
  const TaskSources tasks{.libraries = request.plugins, .may_lack = true};
  deployment = measured_here(deployment, {samples_of(request), tasks}, request.context);
  result.measured = true;
  const auto answers = analysis::check_deadlines(deployment, result.board, {});
  std::erase_if(deployment.settings, [&](const deployment::Setting& setting) {
    return std::ranges::any_of(answers, [&](const analysis::DeadlineAnswers& answer) {
      return answer.operation.scenario == setting.scenario &&
             answer.operation.level == setting.level && !answer.is_schedulable();
    });
  });
  const auto missed = std::ranges::find_if(
      answers, [](const analysis::DeadlineAnswers& answer) { return !answer.is_schedulable(); });
  if (missed == answers.end()) return {};
  std::string reason = "no deployment with the times that were measured: " + missed->reason;
  if (const auto rates = analysis::largest_rates(deployment, result.board))
    reason += fmt::format("; rates of {:.3f} times as much would hold",
                          std::floor(static_cast<double>(rates->millionths) / 1e3) / 1e3);
  return reason;
}

}  // namespace millrace::product
