#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/capacities.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

/// Calls `visit` with each stage and phase.
template <class Visit>
void visit_phases(const Plan& plan, const Visit& visit) {
  for (const Stage& stage : plan.stages)
    for (const Phase& phase : stage.phases) visit(stage, phase);
}

std::multiset<LayerId> layers_of(const Plan& plan) {
  std::multiset<LayerId> layers;
  visit_phases(plan, [&](const Stage&, const Phase& phase) {
    layers.insert(phase.layers.begin(), phase.layers.end());
  });
  return layers;
}

}  // namespace

std::string fault_of_names(const Plan& plan, const Material& material) {
  const std::size_t layers = material.network.layers.size();
  if (plan.layer_names.size() != layers)
    return fmt::format("{} names of {} layers", plan.layer_names.size(), layers);
  return plan.network_hash.empty() ? "the network has no hash" : "";
}

std::string fault_of_phases(const Plan& plan, const Material& material) {
  const std::multiset<LayerId> layers = layers_of(plan);
  for (std::size_t i = 0; i < material.network.layers.size(); ++i)
    if (const std::size_t times = layers.count(LayerId(i)); times != 1)
      return fmt::format("the layer '{}' is in {} phases", plan.layer_names[i], times);
  std::string fault;
  visit_phases(plan, [&](const Stage& stage, const Phase& phase) {
    if (!std::ranges::is_sorted(phase.layers)) fault = "the layers of a phase are not in order";
    for (const LayerId layer : phase.layers)
      if (stage.processors.front() !=
          material.board[material.mapping.processors[layer.index]])
        fault = fmt::format("the layer '{}' is on another processor than it is mapped to",
                            plan.layer_names[layer.index]);
  });
  return fault;
}

std::string fault_of_stages(const Plan& plan, const Material& material) {
  std::set<std::string> names;
  for (const Stage& stage : plan.stages) {
    if (stage.phases.empty()) return fmt::format("the stage '{}' has no phases", stage.name);
    if (!names.insert(stage.name).second)
      return fmt::format("two stages have the name '{}'", stage.name);
  }
  return fault_of_phases(plan, material);
}

std::string fault_of_replicas(const Plan& plan, const Material& material) {
  for (const Stage& stage : plan.stages)
    if (stage.replicas() > 1 && material.options.replicas.empty() &&
        material.options.streams.empty())
      return fmt::format("the stage '{}' has {} replicas that nobody asked for", stage.name,
                         stage.replicas());
  return fault_of_stages(plan, material);
}

std::string fault_of_channels(const Plan& plan, const Material& material) {
  const std::size_t needed = needed_channels(plan, material.network).size();
  if (plan.channels.size() == needed) return "";
  return fmt::format("{} channels, but the phases need {}", plan.channels.size(), needed);
}

std::string fault_of_offsets(const Plan& plan, const Material& material) {
  for (const Channel& channel : plan.channels)
    if (const std::int64_t offset = offset_of(plan, channel); offset < 0)
      return fmt::format("the reader of '{}' is {} frames ahead of its writer",
                         material.network[channel.tensor].name, -offset);
  std::string fault;
  visit_phases(plan, [&](const Stage& stage, const Phase& phase) {
    if (phase.offset % stage.replicas() != 0)
      fault = fmt::format("an offset of {} in the stage '{}' of {} replicas", phase.offset,
                          stage.name, stage.replicas());
  });
  return fault;
}

std::string fault_of_capacities(const Plan& plan, const Material& material) {
  std::map<SlotsKey, std::int64_t> capacities;
  for (const Channel& channel : plan.channels) {
    const auto [first, is_new] = capacities.try_emplace(slots_key(channel), channel.capacity);
    if (first->second != channel.capacity || channel.capacity <= offset_of(plan, channel))
      return fmt::format("a channel of '{}' has {} slots; it needs more than {}, or as many as "
                         "another one of it, {}",
                         material.network[channel.tensor].name, channel.capacity,
                         offset_of(plan, channel), first->second);
  }
  return fault_of_offsets(plan, material);
}

}  // namespace millrace::plan
