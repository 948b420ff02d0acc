#include "api/deployment/analyze.h"

#include <fmt/format.h>

#include "api/deployment/open.h"
#include "base/error.h"
#include "base/file.h"

namespace millrace::api {
namespace {

system::ScenarioId scenario_named(const system::System& system, const std::string& name) {
  std::vector<std::string_view> known;
  for (std::size_t s = 0; s < system.scenarios.size(); ++s) {
    if (system.scenarios[s].name == name) return system::ScenarioId(s);
    known.push_back(system.scenarios[s].name);
  }
  throw InputError("--scenario", fmt::format("the system has no scenario '{}'{}", name,
                                             did_you_mean(name, known)));
}

}  // namespace

analysis::DeploymentAnswers analyze_deadlines(const DeadlinesRequest& request) {
  analysis::DeploymentAnswers result;
  result.file = request.deployment;
  result.deployment = open_deployment_times(request.deployment);
  result.board = board_of(result.deployment, request.context);
  const system::System& system = result.deployment.system;
  analysis::DeadlineQuestions questions{.level = request.level, .simulation = request.simulation};
  if (!request.scenario.empty()) questions.scenario = scenario_named(system, request.scenario);
  if (request.level && (*request.level < 0 || *request.level >= system.levels))
    throw InputError("--level", fmt::format("found {}, the system has levels 0 to {}",
                                            *request.level, system.levels - 1));
  result.operations = analysis::check_deadlines(result.deployment, result.board, questions);
  result.has_rates = request.rates;
  if (request.rates)
    result.rates = analysis::largest_rates(result.deployment, result.board, questions.scenario);
  return result;
}

}  // namespace millrace::api
