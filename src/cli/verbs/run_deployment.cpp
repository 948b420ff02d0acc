#include "cli/verbs/run_deployment.h"

#include <fmt/format.h>

#include "api/json/deployment_run.h"
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
