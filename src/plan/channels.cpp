#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "plan/steps.h"

namespace millrace::plan {
namespace {

bool contains(const std::vector<TensorId>& tensors, TensorId tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

using Spaces = std::map<std::string, Endpoint>;  // where a tensor can be read, by memory space

/// The transfers of each tensor, by where they bring it.
std::map<TensorId, Spaces> transfers_of(const Plan& plan) {
  std::map<TensorId, Spaces> transfers;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      if (const auto& transfer = plan.stages[s].phases[p].transfer)
        transfers[transfer->tensor].emplace(transfer->to, Endpoint{s, p});
  return transfers;
}

/// A phase that reads a tensor, and where it looks for it.
struct Reader {
  Endpoint at;
  std::string space;
  bool operator==(const Reader&) const = default;
};

/// Each once, in the order of stages and phases, then the caller.
std::vector<Reader> readers_of(const Plan& plan, const std::vector<LayerId>& consumers,
                               const std::vector<Endpoint>& places, const Spaces& transfers) {
  std::vector<Reader> readers;
  for (LayerId layer : consumers) {
    const Endpoint& place = places[layer.index];
    readers.push_back({place, plan.stages[place.stage].space});
  }
  for (const auto& entry : transfers) {
    const Endpoint& at = entry.second;
    readers.push_back({at, plan.stages[at.stage].phases[at.phase].transfer->from});
  }
  std::sort(readers.begin(), readers.end(), [](const Reader& a, const Reader& b) {
    return a.at.stage != b.at.stage ? a.at.stage < b.at.stage : a.at.phase < b.at.phase;
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
  const std::map<TensorId, Spaces> transfers = transfers_of(plan);
  std::vector<Channel> channels;
  for (std::size_t t = 0; t < network.tensors.size(); ++t) {
    const TensorId tensor(t);
    const auto producer = topology.producer[t];
    const bool flows_in = contains(network.inputs, tensor) && !network[tensor].constant;
    if (!producer && !flows_in) continue;
    const Endpoint maker = producer ? places[producer->index] : Endpoint{};
    const auto found = transfers.find(tensor);
    Spaces sources = found == transfers.end() ? Spaces{} : found->second;
    const std::string home = maker.is_outside() ? "" : plan.stages[maker.stage].space;
    auto readers = readers_of(plan, topology.consumers[t], places, sources);
    if (producer && topology.is_output[t]) readers.push_back({{}, ""});
    sources[home] = maker;
    const bool stays_host = !sources.contains("");  // the maker's own run brings it there
    for (const auto& [to, space] : readers) {
      if (to == maker) continue;
      const auto source = sources.find(space);
      const bool is_there = source != sources.end();
      const Endpoint from = is_there ? source->second : stays_host ? maker : sources.at("");
      if (to != from) channels.push_back({tensor, from, to, Channel{}.capacity,
                                          is_there ? space : ""});
    }
  }
  std::ranges::stable_sort(channels, {}, [](const Channel& channel) {
    return std::pair(channel.tensor, std::string_view(channel.space));
  });
  return channels;
}

Plan connect_phases(Plan plan, const Material& material) {
  plan.channels = needed_channels(plan, material.network);
  return plan;
}

}  // namespace millrace::plan
