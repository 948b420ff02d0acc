#pragma once
// Networks of which only the structure matters, boards of any size, and mappings.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "plan/build.h"
#include "plan/evidence.h"
#include "support/message_of.h"

namespace millrace::plan::test {

using millrace::test::message_of;

inline TensorId tensor(network::Network& network, std::string name, std::int64_t elements = 4) {
  network.tensors.push_back({.name = std::move(name), .shape = {1, elements}, .constant = {}});
  return TensorId(network.tensors.size() - 1);
}

/// A layer that makes the tensor "t" + its name out of `inputs`.
inline TensorId layer(network::Network& network, const std::string& name,
                      std::vector<TensorId> inputs, std::int64_t elements = 4) {
  const TensorId output = tensor(network, "t" + name, elements);
  network.layers.push_back({name, network::Concat{1}, std::move(inputs), {output}});
  return output;
}

/// Layers "0", "1", ... of which `edges` (from, to) say who reads whom; the others read the input.
/// What nobody reads is an output.
inline network::Network network_of(std::size_t layers,
                                   const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  network::Network network;
  network.name = "net";
  network.inputs.push_back(tensor(network, "x"));
  std::vector<TensorId> made;
  std::vector<bool> read(layers, false);
  for (std::size_t i = 0; i < layers; ++i) {
    std::vector<TensorId> inputs;
    for (const auto& [from, to] : edges)
      if (to == i) {
        inputs.push_back(made[from]);
        read[from] = true;
      }
    if (inputs.empty()) inputs = network.inputs;
    made.push_back(layer(network, fmt::format("{}", i), std::move(inputs)));
  }
  for (std::size_t i = 0; i < layers; ++i)
    if (!read[i]) network.outputs.push_back(made[i]);
  return network;
}

/// Mostly a chain with branches; sometimes a tensor in the middle is an output too.
inline network::Network random_network(Random& random, std::size_t max_layers) {
  const std::size_t layers = 1 + random.below(max_layers);
  const std::size_t reach = 1 + random.below(8);
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t to = 1; to < layers; ++to)
    for (std::size_t back = 1; back <= std::min(reach, to); ++back)
      if (random.below(back + 1) == 0) edges.emplace_back(to - back, to);
  network::Network network = network_of(layers, edges);
  const TensorId inner = network.layers[random.below(layers)].outputs[0];
  if (std::find(network.outputs.begin(), network.outputs.end(), inner) == network.outputs.end())
    network.outputs.push_back(inner);
  return network;
}

inline board::Board board_of(std::size_t processors) {
  board::Board board;
  board.name = "test board";
  for (std::size_t p = 0; p < processors; ++p)
    board.processors.push_back({.name = fmt::format("core{}", p), .cores = {static_cast<int>(p)}});
  return board;
}

inline Mapping mapping_of(const std::vector<std::size_t>& processors) {
  Mapping mapping;
  for (std::size_t processor : processors) mapping.processors.emplace_back(processor);
  return mapping;
}

inline Mapping random_mapping(Random& random, std::size_t layers, std::size_t processors) {
  Mapping mapping;
  for (std::size_t i = 0; i < layers; ++i)
    mapping.processors.emplace_back(random.below(processors));
  return mapping;
}

/// The layers of each phase of each stage, as text: "stage0: 0 1 | 3".
inline std::string text_of(const Plan& plan) {
  std::string text;
  for (const Stage& stage : plan.stages) {
    text += (text.empty() ? "" : "; ") + stage.name + ":";
    for (const Phase& phase : stage.phases) {
      if (&phase != &stage.phases.front()) text += " |";
      for (LayerId id : phase.layers) text += " " + plan.layer_names[id.index];
    }
  }
  return text;
}

/// 1 to `most` ns for each phase.
inline PhaseTimes random_times(Random& random, const Plan& plan, std::uint64_t most) {
  PhaseTimes times(plan);
  for (auto& phases : times)
    for (Time& time : phases) time = Time(1 + static_cast<std::int64_t>(random.below(most)));
  return times;
}

}  // namespace millrace::plan::test
