#include <algorithm>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

bool contains(const std::vector<TensorId>& tensors, TensorId tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

/// The phases of the tensor's readers, each once, in order.
std::vector<Endpoint> readers_of(const std::vector<LayerId>& consumers,
                                 const std::vector<Endpoint>& places) {
  std::vector<Endpoint> readers;
  for (LayerId layer : consumers) readers.push_back(places[layer.index]);
  std::sort(readers.begin(), readers.end(), [](const Endpoint& a, const Endpoint& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.phase < b.phase;
  });
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

/// The phase in all replicas of its stage, in their turns.
std::vector<Endpoint> replicas_of(const Plan& plan, const Endpoint& end) {
  if (end.is_outside() || plan.stages[end.stage].turn.of == 1) return {end};
  const auto& layers = plan.stages[end.stage].phases.front().layers;
  std::vector<Endpoint> result;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    if (plan.stages[s].turn.of > 1 && plan.stages[s].phases.front().layers == layers)
      result.push_back({s, end.phase});
  std::sort(result.begin(), result.end(), [&](const Endpoint& a, const Endpoint& b) {
    return plan.stages[a.stage].turn.index < plan.stages[b.stage].turn.index;
  });
  return result;
}

/// The same channel between all replicas that meet: two that take turns, only in the same turn.
void add_channels(std::vector<Channel>& channels, const Plan& plan, const Channel& first) {
  const std::vector<Endpoint> writers = replicas_of(plan, first.from);
  const std::vector<Endpoint> readers = replicas_of(plan, first.to);
  for (std::size_t from = 0; from < writers.size(); ++from)
    for (std::size_t to = 0; to < readers.size(); ++to)
      if (writers.size() == 1 || readers.size() == 1 || from == to)
        channels.push_back({first.tensor, writers[from], readers[to]});
}

}  // namespace

std::vector<Endpoint> places_of_layers(const Plan& plan) {
  std::vector<Endpoint> places(plan.layer_names.size());
  for (std::size_t s = plan.stages.size(); s-- > 0;)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      for (LayerId layer : plan.stages[s].phases[p].layers) places[layer.index] = {s, p};
  return places;
}

std::vector<Channel> needed_channels(const Plan& plan, const network::Network& network) {
  const std::vector<Endpoint> places = places_of_layers(plan);
  const network::Topology topology = network::topology(network);
  std::vector<Channel> channels;
  for (std::size_t t = 0; t < network.tensors.size(); ++t) {
    const TensorId tensor(t);
    const auto producer = topology.producer[t];
    const bool flows_in = contains(network.inputs, tensor) && !network[tensor].constant;
    if (!producer && !flows_in) continue;
    const Endpoint from = producer ? places[producer->index] : Endpoint{};
    for (const Endpoint& to : readers_of(topology.consumers[t], places))
      if (to != from) add_channels(channels, plan, {tensor, from, to});
    if (producer && topology.is_output[t]) add_channels(channels, plan, {tensor, from, Endpoint{}});
  }
  return channels;
}

Plan connect_phases(Plan plan, const Material& material) {
  plan.channels = needed_channels(plan, material.network);
  return plan;
}

}  // namespace millrace::plan
