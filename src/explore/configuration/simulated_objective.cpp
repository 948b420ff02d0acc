#include "explore/configuration/simulated_objective.h"

#include <algorithm>

#include "simulate/simulate.h"

namespace millrace::explore {
namespace {

constexpr std::int64_t frames = 96;  // to measure, where the simulation does not repeat itself

double throughput_of(const simulate::ApplicationResult& result) {
  if (!result.steady || result.steady->span <= Time{}) return result.throughput();
  return static_cast<double>(result.steady->frames) / seconds(result.steady->span);
}

}  // namespace

Score simulated_score(const SearchContext& context, const Configuration& configuration) {
  const Realised realised = realise(context, configuration);
  simulate::Application application{
      .name = realised.plan.network_name,
      .plan = realised.plan,
      .durations = simulate::predicted_durations(realised.plan, realised.evidence)};
  application.frames = frames;
  const simulate::Result result = simulate::run({application});
  Score score{throughput_of(result.applications.front()),
              std::vector<double>(context.board.processors.size(), 0.0)};
  for (const simulate::ProcessorResult& busy : result.processors)
    for (std::size_t p = 0; p < context.board.processors.size(); ++p)
      if (context.board.processors[p].name == busy.name && result.elapsed > Time{})
        score.utilisation[p] = seconds(busy.busy) / seconds(result.elapsed);
  return score;
}

Objective simulated_objective(const SearchContext& context) {
  return [&context](std::span<const Configuration> configurations) {
    std::vector<Score> scores;
    for (const Configuration& configuration : configurations)
      scores.push_back(simulated_score(context, configuration));
    return scores;
  };
}

}  // namespace millrace::explore
