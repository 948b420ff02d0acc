#pragma once
// Random mappings some of whose stages have replicas.
#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "plan/build.h"
#include "plan/networks.h"

namespace millrace::plan::test {

struct Replicated {
  Mapping mapping;
  BuildOptions options = {};
};

/// Contiguous pieces, sometimes with a layer elsewhere, on the first `pieces` processors of the
/// board. Some of the stages then take turns with further processors, or have further streams: all
/// as many, or any numbers up to four. Some gather frames.
inline Replicated random_replicas(Random& random, const network::Network& network,
                                  const board::Board& board, std::size_t pieces) {
  Replicated result;
  std::vector<std::size_t> genes;
  for (std::size_t i = 0; i < network.layers.size(); ++i) genes.push_back(random.below(pieces));
  std::sort(genes.begin(), genes.end());
  if (random.below(2) == 0) genes[random.below(genes.size())] = random.below(pieces);
  for (const std::size_t gene : genes) result.mapping.processors.emplace_back(gene);
  const bool alike = random.below(2) == 0;
  const std::size_t others = 1 + random.below(2);
  std::size_t free = pieces;
  for (const Stage& stage : build(network, board, result.mapping).stages) {
    if (random.below(4) == 0) continue;
    const auto on =
        std::find(board.processors.begin(), board.processors.end(), stage.processors.front());
    const ProcessorId own(static_cast<std::size_t>(on - board.processors.begin()));
    auto& turns = result.options.replicas[own];
    const std::size_t wanted = alike ? others : 1 + random.below(3);
    const bool is_elsewhere = random.below(3) > 0;
    while (turns.size() < wanted) turns.push_back(is_elsewhere ? ProcessorId(free++) : own);
  }
  if (random.below(3) == 0)
    while (result.options.batches.size() < network.layers.size())
      result.options.batches.push_back(std::int64_t{1} << random.below(3));
  return result;
}

/// Everything on two to four processors in turn.
struct BatchingCopies {
  board::Board board;
  Mapping mapping;
  BuildOptions options;
};

/// In random batches of powers of two.
inline BatchingCopies batching_copies(Random& random, const network::Network& network) {
  const std::size_t copies = 2 + random.below(3), layers = network.layers.size();
  BatchingCopies result{board_of(copies), {}, {}};
  result.mapping.processors.assign(layers, ProcessorId(0));
  result.options.capacity = 1 + static_cast<std::int64_t>(random.below(3));
  for (std::size_t i = 1; i < copies; ++i) result.options.replicas[ProcessorId(0)].emplace_back(i);
  auto& batches = result.options.batches;
  while (batches.size() < layers)
    batches.insert(batches.end(), 1 + random.below(5), std::int64_t{1} << random.below(4));
  batches.resize(layers);
  return result;
}

}  // namespace millrace::plan::test
