#include "api/analyze.h"

#include <chrono>

#include "analysis/rate.h"
#include "api/recorded.h"
#include "plan/capacities.h"
#include "runtime/load.h"
#include "runtime/stage_times.h"

namespace millrace::api {
namespace {

MeasuredNow measure(const AnalyzeRequest& request, const Loaded& loaded) {
  loaded.context.note("inputs are random");
  const auto engines = loaded.engine_pointers();
  constexpr std::size_t least = 3;  // turns
  constexpr Time turn = std::chrono::milliseconds(200);
  runtime::LoadOptions pipeline;
  pipeline.seed = request.seed;
  pipeline.least = 3;
  pipeline.in_flight =
      analysis::enough_in_flight(loaded.plan, loaded.network, plan::predicted_times(loaded.plan));
  runtime::IntermittentLoad load(deploy(loaded, loaded.plan, request.plan, {}), loaded.network,
                                 pipeline);
  runtime::StageTrials stages(loaded.plan, loaded.network, engines);
  MeasuredNow now(loaded.plan, loaded.network, pipeline.in_flight);
  const auto end = std::chrono::steady_clock::now() + time_from_seconds(request.duration_s);
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

}  // namespace

Analysis analyze(const AnalyzeRequest& request) {
  auto loaded = request.measure
                    ? load_plan(request.plan, request.model, {.context = request.context})
                    : read_plan_and_network(request.plan, request.model, request.context);
  if (!request.recorded.empty()) take_recorded(loaded->plan, request.recorded);
  analysis::Proof proof =
      analysis::prove(loaded->plan, loaded->network, plan::predicted_times(loaded->plan));
  Analysis analysis{request.plan, std::move(loaded), std::move(proof)};
  analysis.recorded = !request.recorded.empty();
  if (request.measure && !analysis.loaded->plan.stages.empty())
    analysis.now = measure(request, *analysis.loaded);
  return analysis;
}

}  // namespace millrace::api
