// millrace run PLAN|MODEL|APPLICATION
#include "api/run.h"

#include <fmt/format.h>

#include "application/application_file.h"
#include "base/error.h"
#include "cli/options/frames.h"
#include "cli/options/runnable.h"
#include "cli/print/progress.h"
#include "cli/verbs/application.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct RunCommandOptions {
  api::RunRequest request;
  api::ApplicationOptions application;
};

void bind(CLI::App& verb, RunCommandOptions& options) {
  api::RunRequest& request = options.request;
  bind_runnable(verb, request.runnable);
  bind_frames(verb, request.frames);
  bind_application(verb, options.application);
  verb.add_option("-o,--output", request.output,
                  "Results as JSON lines or, for a name ending in .npy, the raw output; a file "
                  "for each output (NAME.OUTPUT.npy) if there are several");
  verb.add_option("--labels", request.labels, "One class number per line: prints the accuracy");
  bind_time_scale(verb, request.runnable);
  bind_trace(verb, request.trace);
}

/// What only models and plans take would be passed over in silence.
int run_as_application(const RunCommandOptions& options) {
  const api::RunRequest& request = options.request;
  if (!request.frames.inputs.empty() || request.frames.random > 0 || !request.labels.empty() ||
      !request.runnable.network.empty())
    throw InputError(request.runnable.model.source.file,
                     "is an application, which says its own network, input and labels; leave out "
                     "--model, --input, --random and --labels");
  return run_application(request.runnable, options.application, request.output, request.trace);
}

int run(const RunCommandOptions& options) {
  const api::RunRequest& request = options.request;
  const std::string& file = request.runnable.model.source.file;
  check_trace(request.trace, request.runnable);
  if (application::is_application_file(file)) return run_as_application(options);
  refuse_application_options(options.application, file);
  const api::RunTotals totals = api::run(request);
  const auto frames = static_cast<double>(totals.frames);
  if (totals.right)
    fmt::print("accuracy: {} of {} frames, {:.2f} %\n", *totals.right, totals.frames,
               100.0 * static_cast<double>(*totals.right) / frames);
  if (!totals.finite) note("warning: some outputs are infinite or not a number");
  note(fmt::format("{} frames in {}, {:.1f} frames/s, reading the inputs included; {}",
                   totals.frames, millrace::to_text(totals.elapsed),
                   frames / seconds(totals.elapsed),
                   totals.stages == 1 ? "one stage" : fmt::format("{} stages", totals.stages)));
  return 0;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  add_verb<RunCommandOptions>(
      app, exit_code,
      {{"run",
        "Run a plan, or a model on one processor, on images, arrays or random "
        "frames; or an application (.yaml) on what it names",
        "millrace run digits.plan.json --input images/ --output results.jsonl"},
       bind,
       run});
}

}  // namespace millrace::cli
