#include "plan/build.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "plan/steps.h"

namespace millrace::plan {
namespace {

using Step = Plan (*)(Plan, const Material&);

constexpr Step steps[] = {
    note_network,       //
    cut_into_phases,    // Algorithm 2, lines 3 to 25, with our rule for phases
    split_by_streams,   // streams of chapter 3 of the thesis on JEDI
    drop_empty_stages,  //
    add_replicas,       // duplication of the same chapter
    connect_phases,     // Algorithm 2, lines 26 to 30
    set_offsets,        //
    size_channels,      //
};

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
  for (const Step step : steps) plan = step(std::move(plan), material);
  check(plan, network);
  return plan;
}

Plan note_network(Plan plan, const Material& material) {
  plan.network_hash = network::hash_of(material.network);
  plan.network_name = material.network.name;
  for (const network::Layer& layer : material.network.layers)
    plan.layer_names.push_back(layer.name);
  return plan;
}

}  // namespace millrace::plan
