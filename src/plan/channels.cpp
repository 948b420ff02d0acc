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
      if (to != from) channels.push_back({tensor, from, to});
    if (producer && topology.is_output[t]) channels.push_back({tensor, from, {}});
  }
  return channels;
}

Plan connect_phases(Plan plan, const Material& material) {
  plan.channels = needed_channels(plan, material.network);
  return plan;
}

}  // namespace millrace::plan
