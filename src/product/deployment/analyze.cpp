#include "product/deployment/analyze.h"

#include "explore/system/system_profile.h"
#include "product/deployment/open.h"

namespace millrace::product {

analysis::DeploymentAnswers analyze_deadlines(const DeadlinesRequest& request) {
  analysis::DeploymentAnswers result;
  result.file = request.deployment;
  result.deployment = open_deployment_times(request.deployment);
  if (!request.profile.empty()) {
    const explore::SystemProfile profile = explore::read_system_profile(request.profile);
    if (!explore::has_times_of(profile, result.deployment))
      request.context.note(request.profile +
                           ": has no time of a task of this deployment, so it changes nothing");
    result.deployment =
        explore::with_task_times(std::move(result.deployment), {profile, request.profile});
  }
  system::System& asked = result.deployment.system;
  asked = deployment::with_recorded_events(
      asked, recorded_releases(request.releases, asked, request.context));
  result.board = board_of(result.deployment, request.context);
  const system::System& system = result.deployment.system;
  analysis::DeadlineQuestions questions{.level = request.level, .simulation = request.simulation};
  if (!request.scenario.empty()) questions.scenario = scenario_named(system, request.scenario);
  if (request.level) check_level(system, *request.level);
  result.operations = analysis::check_deadlines(result.deployment, result.board, questions);
  result.buffers = analysis::edge_buffers(result.deployment);
  result.has_rates = request.rates;
  if (request.rates)
    result.rates = analysis::largest_rates(result.deployment, result.board, questions.scenario);
  return result;
}

}  // namespace millrace::product
