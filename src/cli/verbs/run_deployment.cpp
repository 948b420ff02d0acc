#include "cli/verbs/run_deployment.h"

#include <fmt/format.h>

#include "api/json/deployment_run.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/range_check.h"
#include "cli/print/deployment_run.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {

void bind_deployment(CLI::App& verb, DeploymentVerbOptions& options) {
  begin_group(verb, "Deployments");
  api::DeploymentRunRequest& request = options.request;
  CLI::Option* script =
      verb.add_option("--scenario-script", request.script,
                      "A drive: a file with a line 'TIME_S SCENARIO LEVEL' for each transition. "
                      "Default: random transitions")
          ->check(CLI::ExistingFile);
  CLI::Option* transitions =
      verb.add_option("--transitions", request.transitions, "Number of random transitions")
          ->check(CLI::Range(0, 1'000'000))
          ->capture_default_str()
          ->excludes(script);
  CLI::Option* scenario = verb.add_option("--scenario", request.scenario, "Stay in this scenario")
                              ->excludes(script)
                              ->excludes(transitions);
  CLI::Option* level =
      verb.add_option("--level", request.level,
                      "The level of rates in the --scenario, from 0. Default: the highest")
          ->check(CLI::Range(0, 1000))
          ->needs(scenario);
  CLI::Option* duration =
      verb.add_option("--duration", request.duration_s, "How long frames come, in seconds")
          ->transform(in_seconds())
          ->check(between(0.001, 1e6))
          ->capture_default_str();
  options.options = {script, transitions, scenario, level, duration};
}

int run_deployment(const api::DeploymentRunRequest& request, bool json) {
  const api::DeploymentRun run = api::run_deployment(request);
  fmt::print("{}", json ? run_json(run) : printable_lines(deployment_run_text(run)));
  std::int64_t missed = 0;
  for (const runtime::GroupRecord& group : run.record.groups) missed += group.frames.missed;
  if (missed > 0) note(fmt::format("{} frames missed their deadlines", missed));
  return missed > 0 ? answer_is_no : 0;
}

}  // namespace millrace::cli
