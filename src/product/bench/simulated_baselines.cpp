#include "product/bench/simulated_baselines.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "explore/mapping/problem.h"
#include "plan/variants.h"
#include "product/loaded.h"
#include "profile/cost_model.h"
#include "profile/select.h"
#include "runtime/bench/energy.h"

namespace millrace::product {
namespace {

/// One of each device.
std::vector<ProcessorId> kinds_of_processors(const board::Board& board) {
  std::vector<ProcessorId> kinds;
  std::vector<const board::Device*> seen;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const board::Device* device = board::device_of(board, board.processors[p]);
    if (std::find(seen.begin(), seen.end(), device) != seen.end()) continue;
    seen.push_back(device);
    kinds.emplace_back(p);
  }
  return kinds;
}

}  // namespace

std::vector<runtime::Baseline> simulated_baselines(Loaded& loaded) {
  const std::optional<board::Board> board = runtime::board_of(loaded.origin);
  const std::vector<board::Precision>& precisions = loaded.origin.precisions;
  if (!board || precisions.empty()) return {};
  const network::Network& network = loaded.network;
  const profile::Profile all = profile::modelled(network, *board, precisions);
  const explore::Problem problem =
      explore::make_problem(network, *board, profile::select(all, precisions));
  std::vector<runtime::Baseline> baselines;
  for (const ProcessorId processor : kinds_of_processors(*board)) {
    const bool runs_all = std::all_of(
        problem.time.begin(), problem.time.end(),
        [&](const std::vector<double>& times) { return std::isfinite(times[processor.index]); });
    if (!runs_all) continue;
    const board::Processor& here = (*board)[processor];
    plan::Plan plan =
        plan::with_variants(one_processor_plan(network, here, plan::simulated_engine),
                            {plan::one_frame_variants(loaded.plan), {}, loaded.plan.calibration});
    plan::Mapping mapping;
    mapping.processors.assign(network.layers.size(), processor);
    plan::Evidence evidence = explore::predicted(problem, plan, {&mapping, 1});
    runtime::add_run_times(plan, evidence, loaded.simulated.time_scale, loaded.simulated.times);
    baselines.push_back({here.name + " alone", {std::move(plan), std::move(evidence)}});
  }
  return baselines;
}

}  // namespace millrace::product
