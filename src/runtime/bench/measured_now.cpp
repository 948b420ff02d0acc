#include "runtime/bench/measured_now.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/rate.h"
#include "schedule/schedule.h"
#include "simulate/recorded.h"

namespace millrace::runtime {
namespace {

/// Times of the quickest whole firings. Less time never makes a graph slower, so with these it
/// gives a bound.
plan::PhaseTimes quickest_of(const std::vector<StageTimes>& stages) {
  plan::PhaseTimes quickest;
  for (const StageTimes& stage : stages) {
    std::vector<Time> phases;
    for (const std::vector<Time>& firings : stage.firings)
      phases.push_back(*std::min_element(firings.begin(), firings.end()));
    quickest.add(std::move(phases));
  }
  return quickest;
}

}  // namespace

template <class Value>
auto MeasuredNow::quantile(double share, Value value) const {
  std::vector<decltype(value(turns_.front()))> values;
  for (const Turn& turn : turns_) values.push_back(value(turn));
  std::sort(values.begin(), values.end());
  return percentile(values, share);
}

MeasuredNow::MeasuredNow(const plan::Plan& plan, const network::Network& network,
                         std::int64_t in_flight)
    : plan_(&plan), network_(&network), in_flight_(in_flight), firings_(plan) {}

void MeasuredNow::add(const Load& load, const std::vector<Time>& busy,
                      std::vector<StageTimes> stages) {
  for (const Time latency : load.latencies) measured_.latencies.add(latency);
  measured_.frames += load.frames;
  measured_.elapsed += load.elapsed;
  const auto bound = analysis::shortest_period(*plan_, *network_, quickest_of(stages));
  Turn turn{load.period(), bound, {}, busy};
  if (turn.bound == Time{}) turn.bound.reset();
  const auto actors = schedule::compile(*plan_).actors;
  for (std::size_t a = 0; a < stages.size(); ++a) {
    for (std::size_t p = 0; p < stages[a].firings.size(); ++p)
      for (const Time time : stages[a].firings[p])
        firings_[a][p].push_back({time, actors[a].phases[p].batch});
    turn.phases.add(std::move(stages[a].phases));
  }
  turns_.push_back(std::move(turn));
}

Time MeasuredNow::period() const {
  return quantile(0.5, [](const Turn& turn) { return turn.period; });
}

std::optional<Time> MeasuredNow::bound() const {
  if (!std::all_of(turns_.begin(), turns_.end(), [](const Turn& turn) { return !!turn.bound; }))
    return std::nullopt;
  return quantile(0.5, [](const Turn& turn) { return *turn.bound; });
}

double MeasuredNow::reached(double share) const {
  return quantile(share,
                  [](const Turn& turn) { return seconds(*turn.bound) / seconds(turn.period); });
}

Time MeasuredNow::phase(std::size_t stage, std::size_t number) const {
  return quantile(0.5, [&](const Turn& turn) { return turn.phases[stage][number]; });
}

double MeasuredNow::busy_to_phases(std::size_t stage) const {
  return quantile(0.5, [&](const Turn& turn) {
    const auto& phases = turn.phases[stage];
    return seconds(turn.busy[stage]) /
           seconds(std::accumulate(phases.begin(), phases.end(), Time{}));
  });
}

MeasuredNow::Comparison MeasuredNow::compare() const {
  simulate::Application application{.name = plan_->network_name,
                                    .plan = *plan_,
                                    .durations = simulate::mean_durations(firings_, *plan_),
                                    .recorded = firings_};
  application.release.in_flight = in_flight_;
  application.frames = measured_.frames;
  return {measured_, simulate::run({application}).applications.front()};
}

double MeasuredNow::Comparison::ratio_of_p99() const {
  return seconds(simulated.latencies.percentile(0.99)) /
         seconds(measured.latencies.percentile(0.99));
}

}  // namespace millrace::runtime
