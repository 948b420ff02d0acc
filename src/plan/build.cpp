#include "plan/build.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

constexpr Step steps[] = {
    {"note the network", note_network, fault_of_names},
    // Algorithm 2, lines 3 to 25, with our rule for phases.
    {"cut into phases", cut_into_phases, fault_of_phases},
    // Streams of chapter 3 of the thesis on JEDI.
    {"split by streams", split_by_streams, fault_of_phases},
    {"drop empty stages", drop_empty_stages, fault_of_stages},
    // Duplication of the same chapter.
    {"add replicas", add_replicas, fault_of_replicas},
    // Algorithm 2, lines 26 to 30.
    {"connect phases", connect_phases, fault_of_channels},
    {"add transfers", add_transfers, fault_of_transfers},
    {"set offsets", set_offsets, fault_of_offsets},
    {"size channels", size_channels, fault_of_capacities},
};

/// Only builds for debugging look: what a step does wrong, check() finds at the end too.
void check_step(const Step& step, const Plan& plan, const Material& material) {
#ifndef NDEBUG
  if (const std::string fault = step.fault(plan, material); !fault.empty())
    throw std::logic_error(fmt::format("after the step '{}': {}", step.name, fault));
#else
  static_cast<void>(step), static_cast<void>(plan), static_cast<void>(material);
#endif
}

void check_arguments(const Material& material) {
  const auto& processors = material.mapping.processors;
  if (processors.size() != material.network.layers.size())
    throw InputError(material.network.name,
                     fmt::format("the mapping has {} layers, the network {}; give one processor "
                                 "per layer",
                                 processors.size(), material.network.layers.size()));
  for (std::size_t i = 0; i < processors.size(); ++i)
    if (processors[i].index >= material.board.processors.size())
      throw InputError(material.network.layers[i].name,
                       fmt::format("is mapped to a processor that the board does not have; it has "
                                   "{}",
                                   material.board.processors.size()));
  if (material.options.capacity < 1 || material.options.capacity > largest_capacity)
    throw InputError("capacity", fmt::format("found {}, expected 1 to {} frames per channel",
                                             material.options.capacity, largest_capacity));
  if (material.options.most_offset < 0 || material.options.most_offset > largest_capacity)
    throw InputError("largest offset", fmt::format("found {}, expected 0 to {} frames",
                                                   material.options.most_offset, largest_capacity));
  if (material.options.most_memory.count < 0)
    throw InputError("largest memory", fmt::format("found {} bytes, expected at least 0",
                                                   material.options.most_memory.count));
  for (const auto& [name, numbers] : {std::pair("batches", &material.options.batches),
                                      std::pair("streams", &material.options.streams)})
    if (!numbers->empty() && numbers->size() != material.network.layers.size())
      throw InputError(name, fmt::format("found {} for {} layers; give one for each, or none",
                                         numbers->size(), material.network.layers.size()));
  for (const std::int64_t streams : material.options.streams)
    if (streams < 1 || streams > most_replicas)
      throw InputError(
          "streams", fmt::format("found {} of a stage, expected 1 to {}", streams, most_replicas));
}

}  // namespace

Plan build(const network::Network& network, const board::Board& board, const Mapping& mapping,
           const BuildOptions& options) {
  const Material material{network, board, mapping, options, network::topology(network)};
  check_arguments(material);
  Plan plan;
  for (const Step& step : steps) {
    const auto begin = std::chrono::steady_clock::now();
    plan = step.run(std::move(plan), material);
    if (options.times != nullptr)
      options.times->push_back({step.name, std::chrono::steady_clock::now() - begin});
    check_step(step, plan, material);
  }
  check(plan, network);
  return plan;
}

std::span<const Step> build_steps() { return steps; }

Plan note_network(Plan plan, const Material& material) {
  plan.network_hash = network::hash_of(material.network);
  plan.network_name = material.network.name;
  for (const network::Layer& layer : material.network.layers)
    plan.layer_names.push_back(layer.name);
  return plan;
}

}  // namespace millrace::plan
