#include "product/analyze.h"

#include <chrono>

#include "analysis/rate.h"
#include "plan/steps.h"
#include "runtime/bench/energy.h"
#include "runtime/load.h"
#include "runtime/stage_times.h"
#include "simulate/recorded.h"

namespace millrace::product {
namespace {

MeasuredNow measure(const AnalyzeRequest& request, const Loaded& loaded) {
  loaded.context.note("inputs are random");
  const auto engines = loaded.engine_pointers();
  constexpr std::size_t least = 3;  // turns
  constexpr Time turn = std::chrono::milliseconds(200);
  runtime::LoadOptions pipeline;
  pipeline.seed = request.seed;
  pipeline.least = 3;
  pipeline.in_flight = analysis::enough_in_flight(
      loaded.plan, loaded.network, plan::predicted_times(loaded.plan, loaded.evidence));
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
plan::Evidence read_evidence(const plan::Plan& plan, const std::string& file) {
  const simulate::Recorded recorded = simulate::read_recorded(file, plan);
  plan::PhaseTimes times(plan);
  const schedule::Schedule schedule = schedule::compile(plan);
  for (std::size_t a = 0; a < times.size(); ++a)
    for (std::size_t p = 0; p < times[a].size(); ++p)
      times[a][p] = recorded.means[a][p].best / schedule.actors[a].phases[p].batch;
  plan::Evidence evidence = plan::predicted(times);
  evidence.period = recorded.result.elapsed / recorded.result.frames;
  return evidence;
}

}  // namespace

Analysis analyze(const AnalyzeRequest& request) {
  auto loaded = request.measure
                    ? load_plan(request.plan, request.model, {.context = request.context})
                    : read_plan_and_network(request.plan, request.model, request.context);
  if (!request.recorded.empty()) loaded->evidence = read_evidence(loaded->plan, request.recorded);
  analysis::Proof proof = analysis::prove(loaded->plan, loaded->network,
                                          plan::predicted_times(loaded->plan, loaded->evidence));
  Analysis analysis{request.plan, std::move(loaded), std::move(proof)};
  analysis.recorded = !request.recorded.empty();
  if (request.measure && !analysis.loaded->plan.stages.empty())
    analysis.now = measure(request, *analysis.loaded);
  if (const auto interval = shortest_period(analysis))
    analysis.energy =
        runtime::predicted_energy({analysis.plan(), analysis.network(), analysis.loaded->origin},
                                  analysis.evidence(), *interval);
  return analysis;
}

std::optional<dataflow::Fraction> proven_period(const analysis::Proof& proof) {
  if (!proof.throughput || proof.throughput->is_unlimited()) return std::nullopt;
  return proof.throughput->period();
}

std::optional<double> shortest_period(const Analysis& analysis) {
  const auto period = proven_period(analysis.proof);
  if (!period) return std::nullopt;
  if (!plan::is_first_free(analysis.plan())) return period->value() * 1e-9;
  const auto times = plan::predicted_times(analysis.plan(), analysis.evidence());
  return seconds(analysis::shortest_period(analysis.plan(), analysis.network(), times).value());
}

}  // namespace millrace::product
