#include "cli/options/runnable.h"

#include "cli/options/common.h"
#include "cli/options/model.h"
#include "cli/options/range_check.h"

namespace millrace::cli {

void bind_runnable(CLI::App& verb, api::RunnableOptions& options, const std::string& files) {
  // Not "plan": `bench` has an option of that name, and newer versions of CLI11 refuse both.
  verb.add_option("plan_or_model", options.model.source.file,
                  files + ", an ONNX file, a Darknet configuration (.cfg) or a zoo network")
      ->required();
  bind_input(verb, options.model);
  verb.add_option("--model", options.network, model_moved);
  bind_processors(verb, options.model);
}

CLI::Option* bind_time_scale(CLI::App& verb, api::RunnableOptions& options) {
  begin_group(verb, "Simulated boards");
  return verb
      .add_option("--time-scale", options.time_scale,
                  "Run a simulated board this many times slower than real time, so that this "
                  "machine can keep up. Reported times are those of the board")
      ->check(between(0.01, 1000.0))
      ->capture_default_str();
}

void bind_application(CLI::App& verb, api::ApplicationOptions& options) {
  begin_group(verb, "Application");
  verb.add_option("--plan", options.plan,
                  "The plan of the application's network; default: float32 on one core");
  verb.add_option("--plugin", options.plugins,
                  "A shared library with pre- or post-processing for the application, or with "
                  "tasks of a deployment (repeatable)");
  verb.add_option("--frames", options.frames,
                  "Stop after this number of frames; default: all frames of the input")
      ->check(CLI::Range(1, 1'000'000'000));
  verb.add_option("--labels-from", options.labels_from,
                  "Compare the findings with this ground truth and print the accuracy. For "
                  "classes: a text file; for boxes: a COCO file (.json), or a folder of VOC or "
                  "YOLO files");
}

CLI::Option* bind_trace(CLI::App& verb, api::TraceOptions& options) {
  begin_group(verb, "Trace");
  CLI::Option* trace = verb.add_option(
      "--trace", options.file,
      "Write a trace of all stages for the last frames; open it in ui.perfetto.dev");
  verb.add_option("--trace-frames", options.frames, "Number of frames that the trace keeps")
      ->check(CLI::Range(1, 100'000))
      ->needs(trace)
      ->capture_default_str();
  return trace;
}

}  // namespace millrace::cli
