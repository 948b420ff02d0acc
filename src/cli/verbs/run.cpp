// millrace run PLAN|MODEL|APPLICATION|DEPLOYMENT
#include "product/run.h"

#include <fmt/format.h>

#include "application/application_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process/signals.h"
#include "base/text/log.h"
#include "cli/options/request.h"
#include "cli/print/progress.h"
#include "cli/verbs/application.h"
#include "cli/verbs/run_deployment.h"
#include "cli/verbs/verbs.h"
#include "deployment/deployment_file.h"
#include "present/results/application.h"
#include "product/written_over.h"
#include "serve/services.h"

namespace millrace::cli {
namespace {

struct RunCommandOptions {
  product::RunRequest request;
  product::ApplicationOptions application;
  product::DeploymentRunRequest deployment;
  serve::ServiceOptions services;
  bool json = false, log_json = false;
};

void bind(Places& at, RunCommandOptions& options) {
  product::RunRequest& request = options.request;
  bind_runnable(at, request.runnable, "A plan or deployment file (.json), an application (.yaml)");
  bind_frames(at, request.frames);
  bind_application(at, options.application);
  bind_trace(at, request.trace);
  at.put("output", request.output).put("labels", request.labels).put("json", options.json);
  at.put("time-scale", request.runnable.time_scale);
  product::DeploymentRunRequest& deployment = options.deployment;
  at.put("scenario-script", deployment.script).put("transitions", deployment.transitions);
  at.put("duration", deployment.duration_s).put("scenario", deployment.scenario);
  at.put("level", deployment.level).put("scenario-file", deployment.scenario_file);
  at.put("releases", deployment.releases).put("state-file", deployment.state_file);
  at.put("core", deployment.thread.core).put("deadline-scheduling", deployment.thread.has_deadline);
  at.put("watchdog", deployment.thread.watchdog);
  serve::ServiceOptions& services = options.services;
  services.note = note;
  at.put("metrics", services.metrics).put("view", services.view).put("mqtt", services.mqtt);
  at.put("log-json", options.log_json);
}

void refuse_those_of_models(const CLI::App& verb) {
  refuse_all_but(
      verb, "deployments",
      {{"drive", "controller"},
       {"metrics", "view", "mqtt", "log-json", "output", "engine-library", "engine-option",
        "no-cache", "plugin", "labels-from", "trace", "trace-frames", "seed", "json"}});
}

/// What only models and plans take would be passed over in silence.
int run_as_application(const RunCommandOptions& options) {
  const product::RunRequest& request = options.request;
  if (!request.frames.inputs.empty() || request.frames.random > 0 || !request.labels.empty() ||
      !request.runnable.network.empty())
    throw InputError(request.runnable.model.source.file,
                     "is an application, which names its network, input and labels itself; leave "
                     "out --model, --input, --random and --labels");
  product::refuse_image_options(request.frames);
  product::FilesRead libraries;  // what the application itself reads is refused where it is known
  libraries.add(request.runnable.model.context);
  libraries.refuse(request.output);
  serve::Services services(options.services);
  return run_application(request.runnable, options.application,
                         {request.output, options.json, request.trace, &services});
}

int run_as_deployment(const RunCommandOptions& options, const CLI::App& verb) {
  const product::Setup& model = options.request.runnable.model;
  refuse_those_of_models(verb);
  product::DeploymentRunRequest request = options.deployment;
  request.deployment = model.source.file;
  request.output = options.request.output;
  request.seed = model.source.seed;
  request.trace = options.request.trace;
  request.tasks.libraries = options.application.plugins;
  request.context = model.context;
  request.take_nexts = count_user_signals();
  serve::Services services(options.services);
  request.observer = &services;
  return run_deployment(request, options.json);
}

int run(const RunCommandOptions& options, const CLI::App& verb) {
  if (options.log_json) write_log_as_json();
  product::RunRequest request = options.request;
  if (request.output == standard_output) request.output.clear();  // where lines go without a file
  const std::string& file = request.runnable.model.source.file;
  if (product::is_plan_file(file) && deployment::is_deployment_file(file))
    return run_as_deployment(options, verb);
  if (product::is_admission_file(file)) {
    refuse_those_of_models(verb);
    product::DeploymentRunRequest admitted = options.deployment;
    admitted.deployment = file;
    admitted.context = request.runnable.model.context;
    return run_admitted(admitted, options.json);
  }
  const bool is_application = application::is_application_file(file);
  refuse_others(verb, is_application ? "applications" : "plans");
  check_trace(request.trace, request.runnable);
  if (is_application) return run_as_application(options);
  refuse_application_options(options.application, file);
  const product::RunTotals totals = product::run(request);
  const auto frames = static_cast<double>(totals.frames);
  if (options.json)
    show(present::run_json(totals));
  else if (totals.right)
    fmt::print("accuracy: {} of {} frames, {:.2f} %\n", *totals.right, totals.frames,
               100.0 * static_cast<double>(*totals.right) / frames);
  for (const std::string& line :
       present::not_finite_text(totals.not_finite_input, totals.nan_layer, totals.finite))
    note(line);
  note(present::run_text(totals));
  return 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  add_verb<RunCommandOptions>(app, exit_code, {"run", bind, run});
}

}  // namespace millrace::cli
