// millrace analyze PLAN
#include <fmt/format.h>

#include <chrono>

#include "analysis/rate.h"
#include "api/load_runnable.h"
#include "api/model.h"
#include "api/progress.h"
#include "api/recorded.h"
#include "cli/options/between.h"
#include "cli/options/duration.h"
#include "cli/print/analysis_report.h"
#include "cli/print/printable_lines.h"
#include "cli/verbs/verbs.h"
#include "plan/capacities.h"
#include "runtime/load.h"
#include "runtime/stage_times.h"

namespace millrace::cli {

using namespace api;

namespace {

struct AnalyzeOptions {
  std::string plan, model, recorded;
  double duration_s = 5;
  std::uint64_t seed = 1;
  bool measure = false, json = false;
};

void bind(CLI::App& verb, AnalyzeOptions& options) {
  verb.add_option("plan", options.plan, "A plan file")->required();
  verb.add_option("model,--model", options.model, "The model, if it is no longer where it was");
  CLI::Option* measure = verb.add_flag("--measure", options.measure,
                                       "Run the plan here and compare it with the bound");
  verb.add_option("--duration", options.duration_s, "Seconds to measure")
      ->transform(in_seconds())
      ->check(between(0.01, 86400.0))
      ->capture_default_str()
      ->needs(measure);
  verb.add_option("--recorded", options.recorded,
                  "A trace that `run` or `bench` has written: the proof is by what phases took "
                  "there on the average, and its frames stand beside the bound")
      ->excludes(measure);
  verb.add_option("--seed", options.seed, "Seed of everything random")->capture_default_str();
  verb.add_flag("--json", options.json, "For programs");
}

MeasuredNow measure(const AnalyzeOptions& options, const Loaded& loaded) {
  note("inputs are random");
  const auto engines = loaded.engine_pointers();
  constexpr std::size_t least = 3;  // turns
  constexpr Time turn = std::chrono::milliseconds(200);
  runtime::LoadOptions pipeline;
  pipeline.seed = options.seed;
  pipeline.least = 3;
  pipeline.in_flight =
      analysis::enough_in_flight(loaded.plan, loaded.network, plan::predicted_times(loaded.plan));
  runtime::IntermittentLoad load(deploy(loaded, loaded.plan, options.plan, {}), loaded.network,
                                 pipeline);
  runtime::StageTrials stages(loaded.plan, loaded.network, engines);
  MeasuredNow now(loaded.plan, loaded.network, pipeline.in_flight);
  const auto end = std::chrono::steady_clock::now() + time_from_seconds(options.duration_s);
  while (now.turns() < least || std::chrono::steady_clock::now() < end) {
    const runtime::Load ran = load.run(turn);
    now.add(ran, load.busy(), stages.run_together(turn));
  }
  return now;
}

/// As if the plan had been predicted, and measured, by the trace.
void take_recorded(plan::Plan& plan, const std::string& file) {
  const Recorded recorded = read_recorded(file, plan);
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      plan.stages[s].phases[p].predicted =
          recorded.means[s][p].best / plan.stages[s].phases[p].batch;
  plan.measured = recorded.result.elapsed / recorded.result.frames;
}

int run(const AnalyzeOptions& options) {
  const auto loaded = options.measure ? load_plan(options.plan, options.model, {})
                                      : read_plan_and_network(options.plan, options.model);
  if (!options.recorded.empty()) take_recorded(loaded->plan, options.recorded);
  Analysis analysis{
      loaded->plan, loaded->network, options.plan,
      analysis::prove(loaded->plan, loaded->network, plan::predicted_times(loaded->plan))};
  analysis.recorded = !options.recorded.empty();
  std::optional<MeasuredNow> now;
  if (options.measure && !loaded->plan.stages.empty())
    analysis.now = &now.emplace(measure(options, *loaded));
  fmt::print("{}",
             options.json ? analysis_json(analysis) : printable_lines(analysis_text(analysis)));
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
