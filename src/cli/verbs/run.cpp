// millrace run PLAN|MODEL|APPLICATION|DEPLOYMENT
#include "api/run.h"

#include <fmt/format.h>

#include "api/json/measured.h"
#include "api/written_over.h"
#include "application/application_file.h"
#include "base/error.h"
#include "cli/options/common.h"
#include "cli/options/frames.h"
#include "cli/options/of_kind.h"
#include "cli/options/runnable.h"
#include "cli/print/progress.h"
#include "cli/verbs/application.h"
#include "cli/verbs/run_deployment.h"
#include "cli/verbs/verbs.h"
#include "deployment/deployment_file.h"

namespace millrace::cli {
namespace {

struct RunCommandOptions {
  api::RunRequest request;
  api::ApplicationOptions application;
  DeploymentVerbOptions deployment;
  std::vector<CLI::Option*> not_of_deployments = {};
  bool json = false;
};

constexpr const char* names_not_of_deployments[] = {
    "--model",  "--shape",  "--fix",    "--size",       "--weights", "--input",
    "--random", "--mean",   "--std",    "--bgr",        "--raw",     "--plan",
    "--frames", "--output", "--labels", "--processors", "--engine",  "--time-scale"};

void bind(CLI::App& verb, RunCommandOptions& options) {
  api::RunRequest& request = options.request;
  bind_runnable(verb, request.runnable,
                "A plan or deployment file (.json), an application (.yaml)");
  bind_frames(verb, request.frames);
  bind_application(verb, options.application);
  begin_group(verb, "Output");
  verb.add_option("-o,--output", request.output,
                  "Write results as JSON lines; a name that ends in .npy: the raw output. Several "
                  "outputs become several files NAME.OUTPUT.npy");
  verb.add_option("--labels", request.labels,
                  "A file with one class number per line; the accuracy is printed");
  verb.add_flag("--json", options.json,
                "Print what the run did as one more line of JSON, after the results");
  bind_time_scale(verb, request.runnable);
  bind_trace(verb, request.trace);
  bind_deployment(verb, options.deployment);
  for (const char* name : names_not_of_deployments)
    options.not_of_deployments.push_back(verb.get_option(name));
}

/// What only models and plans take would be passed over in silence.
int run_as_application(const RunCommandOptions& options) {
  const api::RunRequest& request = options.request;
  if (!request.frames.inputs.empty() || request.frames.random > 0 || !request.labels.empty() ||
      !request.runnable.network.empty())
    throw InputError(request.runnable.model.source.file,
                     "is an application, which names its network, input and labels itself; leave "
                     "out --model, --input, --random and --labels");
  api::refuse_image_options(request.frames);
  api::FilesRead libraries;  // what the application itself reads is refused where it is known
  libraries.add(request.runnable.model.context);
  libraries.refuse(request.output);
  return run_application(request.runnable, options.application,
                         {request.output, options.json, request.trace});
}

int run_as_deployment(const RunCommandOptions& options) {
  const api::Setup& model = options.request.runnable.model;
  refuse_given(options.not_of_deployments, model.source.file, "plans, models and applications");
  api::DeploymentRunRequest request = options.deployment.request;
  request.deployment = model.source.file;
  request.seed = model.source.seed;
  request.trace = options.request.trace;
  request.tasks.libraries = options.application.plugins;
  request.context = model.context;
  return run_deployment(request, options.json);
}

std::string used_stages_text(const api::RunTotals& totals) {
  const std::string stages =
      totals.stages == 1 ? "one stage" : fmt::format("{} stages", totals.stages);
  return totals.replicas == totals.stages ? stages
                                          : fmt::format("{}, {} replicas", stages, totals.replicas);
}

int run(const RunCommandOptions& options) {
  api::RunRequest request = options.request;
  if (request.output == standard_output) request.output.clear();  // where lines go without a file
  const std::string& file = request.runnable.model.source.file;
  if (api::is_plan_file(file) && deployment::is_deployment_file(file))
    return run_as_deployment(options);
  if (api::is_admission_file(file)) {
    refuse_given(options.not_of_deployments, file, "plans, models and applications");
    api::DeploymentRunRequest admitted = options.deployment.request;
    admitted.deployment = file;
    admitted.context = request.runnable.model.context;
    return run_admitted(admitted, options.json);
  }
  refuse_given(options.deployment.options, file, "deployments");
  check_trace(request.trace, request.runnable);
  if (application::is_application_file(file)) return run_as_application(options);
  refuse_application_options(options.application, file);
  const api::RunTotals totals = api::run(request);
  const auto frames = static_cast<double>(totals.frames);
  if (options.json)
    fmt::print("{}", run_json(totals));
  else if (totals.right)
    fmt::print("accuracy: {} of {} frames, {:.2f} %\n", *totals.right, totals.frames,
               100.0 * static_cast<double>(*totals.right) / frames);
  note_not_finite(totals.not_finite_input, totals.nan_layer, totals.finite);
  note(fmt::format("{} frames in {}, {} frames/s, reading the inputs included; {}", totals.frames,
                   millrace::to_text(totals.elapsed), four_digits(frames / seconds(totals.elapsed)),
                   used_stages_text(totals)));
  return 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  add_verb<RunCommandOptions>(
      app, exit_code,
      {{"run",
        "Run a plan, a model on one processor, or an application (.yaml). The input is "
        "images, arrays, random frames, or the application's. Or run a deployment: several "
        "networks under deadlines",
        "millrace run digits.plan.json --input images/ --output results.jsonl"},
       bind,
       run});
}

}  // namespace millrace::cli
