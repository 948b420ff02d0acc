#include "cli/verbs/run_deployment.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"
#include "present/results/admission.h"
#include "present/results/deployment_run.h"
#include "product/admission/answer_file.h"

namespace millrace::cli {

bool print_played(const product::AdmitResult& result, const product::PlayedAdmission& played,
                  bool json) {
  if (!played.priorities.empty()) note(played.priorities);
  show(json ? product::admission_json(result, &played)
            : printable_lines(present::played_text(played.played, result)));
  return std::ranges::all_of(played.played.tasks, [](const runtime::PlayedTask& task) {
    return task.overruns == 0 && task.skipped == 0;
  });
}

int run_admitted(const product::DeploymentRunRequest& request, bool json) {
  product::AdmittedRunRequest admitted{.file = request.deployment, .context = request.context};
  admitted.play.duration = time_from_seconds(request.duration_s);
  const product::AdmittedRun run = product::run_admitted(admitted);
  return print_played(run.result, run.played, json) ? 0 : answer_is_no;
}

int run_deployment(const product::DeploymentRunRequest& request, bool json) {
  const product::DeploymentRun run = product::run_deployment(request);
  show(json ? present::run_json(run) : printable_lines(present::deployment_run_text(run)));
  const std::int64_t missed = run.missed();
  if (missed > 0) note(fmt::format("{} frames missed their deadlines", missed));
  if (run.interrupted)
    throw EngineError(fmt::format("interrupted after {}; the report is of the frames until then",
                                  millrace::to_text(run.record.elapsed)));
  return missed > 0 ? answer_is_no : 0;
}

}  // namespace millrace::cli
