// millrace analyze PLAN
#include "api/analyze.h"

#include <fmt/format.h>

#include "api/json/analysis.h"
#include "base/printable.h"
#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/range_check.h"
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
  verb.add_option("plan", request.plan, "The plan file")->required();
  verb.add_option("model,--model", request.model, model_moved);
  CLI::Option* measure = verb.add_flag("--measure", request.measure,
                                       "Run the plan here and compare it with the proven "
                                       "throughput");
  verb.add_option("--duration", request.duration_s, "How long to measure, in seconds")
      ->transform(in_seconds())
      ->check(between(0.01, 86400.0))
      ->capture_default_str()
      ->needs(measure);
  verb.add_option("--recorded", request.recorded,
                  "A trace that `run` or `bench` wrote. The proof uses the mean times of its "
                  "phases, and is compared with its frames")
      ->excludes(measure);
  verb.add_option("--seed", request.seed, "Seed of all random numbers")->capture_default_str();
  bind_json(verb, options.json);
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
                             "Prove that a plan cannot deadlock; compute its largest throughput, "
                             "latency and buffers",
                             "millrace analyze resnet18.plan.json --measure"},
                            bind,
                            run});
}

}  // namespace millrace::cli
