#include "cli/verbs/run_deployment.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/json/admission.h"
#include "api/json/deployment_run.h"
#include "api/text/admission.h"
#include "api/text/deployment_run.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/drive.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

void bind_deployment(CLI::App& verb, DeploymentVerbOptions& options) {
  begin_group(verb, "Deployments");
  api::DeploymentRunRequest& request = options.request;
  const auto [script, transitions, duration] =
      bind_drive_choices(verb, {request.script, request.transitions, request.duration_s});
  CLI::Option* scenario = verb.add_option("--scenario", request.scenario, "Stay in this scenario")
                              ->excludes(script)
                              ->excludes(transitions);
  CLI::Option* level =
      verb.add_option("--level", request.level,
                      "The level of rates in the --scenario, from 0. Default: the highest")
          ->check(CLI::Range(0, 1000))
          ->needs(scenario);
  options.options = {script, transitions, scenario, level, duration};
}

bool print_played(const api::AdmitResult& result, const api::PlayedAdmission& played, bool json) {
  if (!played.priorities.empty()) note(played.priorities);
  fmt::print("{}", json ? api::admission_json(result, &played)
                        : printable_lines(api::played_text(played.played, result)));
  return std::ranges::all_of(played.played.tasks, [](const runtime::PlayedTask& task) {
    return task.overruns == 0 && task.skipped == 0;
  });
}

int run_admitted(const api::DeploymentRunRequest& request, bool json) {
  api::AdmittedRunRequest admitted{.file = request.deployment, .context = request.context};
  admitted.play.duration = time_from_seconds(request.duration_s);
  const api::AdmittedRun run = api::run_admitted(admitted);
  return print_played(run.result, run.played, json) ? 0 : answer_is_no;
}

int run_deployment(const api::DeploymentRunRequest& request, bool json) {
  const api::DeploymentRun run = api::run_deployment(request);
  fmt::print("{}", json ? run_json(run) : printable_lines(api::deployment_run_text(run)));
  const std::int64_t missed = run.missed();
  if (missed > 0) note(fmt::format("{} frames missed their deadlines", missed));
  if (run.interrupted)
    throw EngineError(fmt::format("interrupted after {}; the report is of the frames until then",
                                  millrace::to_text(run.record.elapsed)));
  return missed > 0 ? answer_is_no : 0;
}

}  // namespace millrace::cli
