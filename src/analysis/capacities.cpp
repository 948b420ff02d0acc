#include "analysis/capacities.h"

#include <algorithm>
#include <map>

#include "dataflow/buffers.h"
#include "plan/build.h"
#include "plan/capacities.h"
#include "plan/steps.h"
#include "schedule/graph.h"

namespace millrace::analysis {
namespace {

/// Capacities that are tried: a number and not a time, so that a plan is the same on every machine.
constexpr std::int64_t most_tries = 200;

std::int64_t bytes_of(const network::Network& network, TensorId tensor) {
  return std::max<std::int64_t>(1, network[tensor].size().count);
}

/// check() asks for as many.
std::int64_t least_slots(const plan::Plan& plan, const plan::Channel& channel) {
  std::int64_t least = plan::offset_of(plan, channel) + 1;
  for (const plan::Endpoint& end : {channel.from, channel.to})
    if (!end.is_outside()) least = std::max(least, plan.stages[end.stage].phases[end.phase].batch);
  return least;
}

/// The channels of a tensor share its slots. Channels of the graph have the numbers of the plan's.
std::vector<dataflow::Pool> pools_of(const plan::Plan& plan, const network::Network& network) {
  std::map<plan::SlotsKey, dataflow::Pool> pools;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) {
    const plan::Channel& channel = plan.channels[c];
    dataflow::Pool& pool = pools[plan::slots_key(channel)];
    pool.channels.emplace_back(c);
    pool.least = std::max(pool.least, least_slots(plan, channel));
    pool.weight = bytes_of(network, channel.tensor);
  }
  std::vector<dataflow::Pool> result;
  for (auto& [key, pool] : pools) result.push_back(std::move(pool));
  return result;
}

}  // namespace

std::optional<SlotSizing> smallest_slots(const plan::Plan& plan, const network::Network& network,
                                         const plan::PhaseTimes& phase_times) {
  if (phase_times.empty() || plan::replicas_of(plan) > 1) return std::nullopt;
  const dataflow::Graph graph =
      schedule::csdf_graph(plan, network, {.phase_times = phase_times, .bounded = false});
  const auto most = dataflow::throughput(graph);
  if (!most || !most->is_live()) return std::nullopt;
  dataflow::SizingOptions options;
  options.max_tries = most_tries;
  options.pools = pools_of(plan, network);
  const auto sizing = dataflow::smallest_buffers(graph, most->period(), options);
  if (!sizing) return std::nullopt;
  return SlotSizing{sizing->capacities,
                    sizing->period / dataflow::Fraction(plan::round_of(plan)),
                    {sizing->total},
                    {sizing->bound}};
}

}  // namespace millrace::analysis
