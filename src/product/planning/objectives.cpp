#include "product/planning/objectives.h"

#include <algorithm>
#include <memory>

#include "analysis/rate.h"
#include "engine/keeping.h"
#include "explore/configuration/simulated_objective.h"
#include "plan/variants.h"
#include "runtime/pool.h"

namespace millrace::product {
namespace {

/// Score of one candidate that ran at this pace.
explore::Score score_of(const plan::Assessed& assessed, const board::Board& board, Time period) {
  explore::Score score{1 / seconds(period), std::vector<double>(board.processors.size(), 0.0)};
  const auto times = plan::busy_times(assessed.plan, assessed.evidence);
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (const auto time = times.find(board.processors[p].name); time != times.end())
      score.utilisation[p] = std::min(1.0, seconds(time->second) / seconds(period));
  return score;
}

}  // namespace

explore::Objective simulated_by(const explore::SearchContext& search_context, int threads) {
  if (threads == 1) return explore::simulated_objective(search_context);
  return [&search_context, threads](std::span<const explore::Configuration> configurations) {
    std::vector<explore::Score> scores(configurations.size());
    std::size_t next = 0;
    runtime::Pool pool(
        [&]() -> std::optional<runtime::Job> {
          if (next == configurations.size()) return std::nullopt;
          const std::size_t i = next++;
          return runtime::Job{
              [&, i] { scores[i] = explore::simulated_score(search_context, configurations[i]); },
              [] { return true; }};
        },
        {.name = "search", .threads = threads});
    pool.wait();
    return scores;
  };
}

std::vector<runtime::Contender> contenders_of(std::span<const plan::Assessed> plans,
                                              const network::Network& network) {
  std::vector<runtime::Contender> contenders;
  for (const auto& [plan, evidence] : plans)
    contenders.push_back(
        {plan, analysis::enough_in_flight(plan, network, plan::predicted_times(plan, evidence))});
  return contenders;
}

explore::Objective measured_by(const Measurement& measurement) {
  // Shared by the copies of the function.
  auto keeping = std::make_shared<std::map<std::string, std::unique_ptr<engine::Engine>>>();
  for (const auto& [name, engine] : measurement.engines)
    (*keeping)[name] = engine::make_keeping_engine(*engine);
  return [measurement, keeping](std::span<const explore::Configuration> configurations) {
    std::map<std::string, engine::Engine*> engines;
    for (const auto& [name, engine] : *keeping) engines[name] = engine.get();
    const runtime::LoadOptions load{time_from_seconds(measurement.seconds), measurement.seed};
    std::vector<explore::Score> scores;
    for (const explore::Configuration& configuration : configurations) {
      explore::Realised realised = explore::realise(measurement.search_context, configuration);
      const plan::Assessed assessed{
          plan::with_variants(
              realised.plan,
              explore::variants_for(measurement.search_context.problem,
                                    explore::mapping_of(measurement.search_context, configuration),
                                    measurement.calibration)),
          std::move(realised.evidence)};
      const network::Network& network = measurement.search_context.network;
      const auto measured =
          runtime::measure(contenders_of({&assessed, 1}, network), network, engines, load);
      scores.push_back(
          score_of(assessed, measurement.search_context.board, measured.front().period));
    }
    return scores;
  };
}

explore::Objectives objectives_by(const MeasuringEngines& with) {
  explore::Objectives result{simulated_by};
  if (with.engines.empty()) return result;
  result.measured = [with](const explore::SearchContext& search_context) {
    return measured_by({search_context, with.engines, with.calibration, with.seconds, with.seed});
  };
  return result;
}

}  // namespace millrace::product
