// millrace analyze PLAN
#include "api/analyze.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "cli/options/between.h"
#include "cli/options/duration.h"
#include "cli/print/analysis_report.h"
#include "cli/print/progress.h"
#include "cli/verbs/verbs.h"

namespace millrace::cli {
namespace {

struct AnalyzeOptions {
  api::AnalyzeRequest request;
  bool json = false;
};

void bind(CLI::App& verb, AnalyzeOptions& options) {
  api::AnalyzeRequest& request = options.request;
  request.context.listener = &terminal();
  verb.add_option("plan", request.plan, "A plan file")->required();
  verb.add_option("model,--model", request.model, "The model, if it is no longer where it was");
  CLI::Option* measure = verb.add_flag("--measure", request.measure,
                                       "Run the plan here and compare it with the bound");
  verb.add_option("--duration", request.duration_s, "Seconds to measure")
      ->transform(in_seconds())
      ->check(between(0.01, 86400.0))
      ->capture_default_str()
      ->needs(measure);
  verb.add_option("--recorded", request.recorded,
                  "A trace that `run` or `bench` has written: the proof is by what phases took "
                  "there on the average, and its frames stand beside the bound")
      ->excludes(measure);
  verb.add_option("--seed", request.seed, "Seed of everything random")->capture_default_str();
  verb.add_flag("--json", options.json, "For programs");
}

int run(const AnalyzeOptions& options) {
  const api::Analysis analysis = analyze(options.request);
  fmt::print("{}", options.json ? analysis_json(analysis)
                                : printable_lines(analysis_text(analysis)));
  return 0;
}

}  // namespace

void add_analyze(CLI::App& app, int& exit_code) {
  add_verb<AnalyzeOptions>(app, exit_code,
                           {{"analyze",
                             "What is certain of a plan: no deadlock, its largest throughput, "
                             "latency and buffers",
                             "millrace analyze resnet18.plan.json --measure"},
                            bind,
                            run});
}

}  // namespace millrace::cli
