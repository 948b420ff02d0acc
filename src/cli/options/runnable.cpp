#include "cli/options/runnable.h"

#include "cli/options/between.h"
#include "cli/options/model.h"

namespace millrace::cli {

void bind_runnable(CLI::App& verb, api::RunnableOptions& options) {
  // Not "plan": `bench` has an option of that name, and newer versions of CLI11 refuse both.
  verb.add_option(
          "plan_or_model", options.model.source.file,
          "A plan file (.json), an ONNX file, a Darknet configuration (.cfg) or a zoo network")
      ->required();
  verb.add_option("--model", options.network,
                  "The model of a plan, if it is no longer where it was");
  bind_input(verb, options.model);
  bind_processors(verb, options.model);
}

CLI::Option* bind_time_scale(CLI::App& verb, api::RunnableOptions& options) {
  return verb
      .add_option("--time-scale", options.time_scale,
                  "Slow a simulated board down so many times, that this machine can keep up; times "
                  "are reported as without it")
      ->check(between(0.01, 1000.0))
      ->capture_default_str();
}

void bind_application(CLI::App& verb, api::ApplicationOptions& options) {
  verb.add_option("--plan", options.plan,
                  "For an application: the plan of its network, made with `millrace plan`");
  verb.add_option("--plugin", options.plugins,
                  "For an application: a library with pre- or post-processing (repeatable)");
  verb.add_option("--frames", options.frames, "For an application: this many frames at most")
      ->check(CLI::Range(1, 1'000'000'000));
}

CLI::Option* bind_trace(CLI::App& verb, api::TraceOptions& options) {
  CLI::Option* trace = verb.add_option(
      "--trace", options.file,
      "Write what every stage did with the last frames, for ui.perfetto.dev or chrome://tracing");
  verb.add_option("--trace-frames", options.frames, "Frames that the trace keeps")
      ->check(CLI::Range(1, 100'000))
      ->needs(trace)
      ->capture_default_str();
  return trace;
}

}  // namespace millrace::cli
