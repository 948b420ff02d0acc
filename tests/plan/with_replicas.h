#pragma once
// Random mappings some of whose stages have replicas.
#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "plan/build.h"

namespace millrace::plan::test {

struct Replicated {
  Mapping mapping;
  std::map<ProcessorId, std::vector<ProcessorId>> replicas;
};

/// Contiguous pieces, sometimes with a layer elsewhere, on the first `pieces` processors of the
/// board. Some of the stages that have one phase then take turns with further processors.
inline Replicated random_replicas(Random& random, const network::Network& network,
                                  const board::Board& board, std::size_t pieces) {
  Replicated result;
  std::vector<std::size_t> genes;
  for (std::size_t i = 0; i < network.layers.size(); ++i) genes.push_back(random.below(pieces));
  std::sort(genes.begin(), genes.end());
  if (random.below(2) == 0) genes[random.below(genes.size())] = random.below(pieces);
  for (const std::size_t gene : genes) result.mapping.processors.emplace_back(gene);
  const std::size_t others = 1 + random.below(2);
  std::size_t free = pieces;
  for (const Stage& stage : build(network, board, result.mapping).stages) {
    if (stage.phases.size() > 1 || random.below(4) == 0) continue;
    const auto on = std::find(board.processors.begin(), board.processors.end(), stage.processor);
    auto& turns =
        result.replicas[ProcessorId(static_cast<std::size_t>(on - board.processors.begin()))];
    while (turns.size() < others) turns.emplace_back(free++);
  }
  return result;
}

}  // namespace millrace::plan::test
