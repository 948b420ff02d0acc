#include "analysis/rate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dataflow/analysis.h"
#include "plan/build.h"
#include "plan/steps.h"
#include "schedule/graph.h"

namespace millrace::analysis {
namespace {

std::optional<dataflow::ActorId> actor_named(const dataflow::Graph& graph, std::size_t from,
                                             const std::string& name) {
  for (std::size_t a = from; a < graph.actors.size(); ++a)
    if (graph.actors[a].name == name) return dataflow::ActorId(a);
  return std::nullopt;
}

std::int64_t largest_offset(const plan::Plan& plan) {
  std::int64_t largest = 0;
  for (const plan::Stage& stage : plan.stages)
    for (const plan::Phase& phase : stage.phases) largest = std::max(largest, phase.offset);
  return largest;
}

std::int64_t rounded_up(Time time, Time by) { return (time.count() + by.count() - 1) / by.count(); }

/// The nanoseconds that each replica of a first-free plan takes for its largest batch.
std::vector<double> times_of_copies(const plan::Plan& plan, const plan::PhaseTimes& phase_times) {
  const std::int64_t batch = plan::batch_of(plan);
  std::vector<double> times;
  const auto& phases = plan.stages.front().phases;
  for (const auto& of_copy : phase_times) {
    double& time = times.emplace_back(0);
    for (std::size_t p = 0; p < phases.size(); ++p)
      time +=
          static_cast<double>(of_copy.at(p).count()) * static_cast<double>(batch / phases[p].batch);
  }
  return times;
}

/// With first-free replicas: results leave in order, so while the slowest is at its frames, those
/// that the others do meanwhile wait for it; and whoever is free is to find a batch. 0: a time is
/// zero.
std::int64_t done_beside_the_slowest(const plan::Plan& plan, const plan::PhaseTimes& phase_times) {
  constexpr double most = 1e15;  // more than any plan has slots
  const std::vector<double> copies = times_of_copies(plan, phase_times);
  const auto [fastest, slowest] = std::minmax_element(copies.begin(), copies.end());
  if (*fastest <= 0) return 0;
  const auto batch = static_cast<double>(plan::batch_of(plan));
  double frames = batch - 1;
  for (const double copy : copies) frames += batch * std::ceil(*slowest / copy);
  return static_cast<std::int64_t>(std::min(frames, most));
}

}  // namespace

std::optional<Time> period_bound(const plan::Plan& plan, const network::Network& network,
                                 const plan::PhaseTimes& phase_times) {
  schedule::GraphOptions options;
  options.phase_times = phase_times;
  options.outside =
      plan::replicas_of(plan) > 1;  // without the caller replicas would not wait for their frames
  const auto rate = dataflow::throughput(schedule::csdf_graph(plan, network, options));
  if (!rate || !rate->is_live()) return std::nullopt;
  return rate->span / (rate->iterations * plan::round_of(plan));
}

std::optional<Time> shortest_period(const plan::Plan& plan, const network::Network& network,
                                    const plan::PhaseTimes& phase_times) {
  if (!plan::is_first_free(plan)) return period_bound(plan, network, phase_times);
  double rate = 0;
  for (const double copy : times_of_copies(plan, phase_times)) rate += 1 / copy;
  return Time(std::llround(1 / (rate * static_cast<double>(plan::batch_of(plan)))));
}

Time period_of_copies(const plan::Plan& plan, const plan::PhaseTimes& phase_times) {
  const std::vector<double> copies = times_of_copies(plan, phase_times);
  double rate = 0;
  for (const double copy : copies) rate += 1 / copy;
  double period = 1 / (rate * static_cast<double>(plan::batch_of(plan)));
  const double slowest = *std::ranges::max_element(copies);
  for (const plan::Channel& channel : plan.channels)
    period = std::max(period, slowest / static_cast<double>(channel.capacity));
  return Time(std::llround(period));
}

std::optional<Time> latency_bound(const plan::Plan& plan, const network::Network& network,
                                  const plan::PhaseTimes& phase_times, Time period) {
  constexpr std::int64_t rounds = 8, least = 32;  // until the pipeline has come to its pace
  dataflow::Graph graph = schedule::csdf_graph(plan, network, {.phase_times = phase_times});
  const auto input = actor_named(graph, phase_times.size(), "input");
  const auto output = actor_named(graph, phase_times.size(), "output");
  if (!input || !output || !dataflow::is_live(graph)) return std::nullopt;
  auto& pace = graph.actors[input->index].times;
  pace.assign(pace.size(), std::max(period, Time{1}));
  const std::int64_t offset = largest_offset(plan);
  return dataflow::longest_delay(
      graph, {*input, *output, offset, offset + least + rounds * plan::round_of(plan)});
}

std::int64_t enough_in_flight(const plan::Plan& plan, const network::Network& network,
                              const plan::PhaseTimes& phase_times) {
  if (phase_times.empty()) return 0;
  const auto jitter = static_cast<std::int64_t>(phase_times.size());
  if (plan::is_first_free(plan)) return done_beside_the_slowest(plan, phase_times) + jitter;
  const auto period = period_bound(plan, network, phase_times);
  if (!period || *period <= Time{}) return 0;
  const auto latency = latency_bound(plan, network, phase_times, *period);
  if (!latency) return 0;
  return rounded_up(*latency, *period) + jitter;
}

}  // namespace millrace::analysis
