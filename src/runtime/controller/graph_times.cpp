#include "runtime/controller/graph_times.h"

#include <algorithm>
#include <tuple>

#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

/// A task of a graph, and what fires it.
struct RehearsedNode {
  std::size_t graph = 0, task = 0;
  std::string name = {};
  std::function<Time()> fire = {};
  std::vector<std::size_t> processors = {};
};

/// In each round on the next one of its processors.
std::size_t processor_in_round(const RehearsedNode& node, std::size_t number, std::size_t round) {
  return node.processors[(number + round) % node.processors.size()];
}

void add_samples(std::vector<TaskSamples>& result, const RehearsedNode& node,
                 const TimedPiece& piece) {
  const auto is_same = [&](const TaskSamples& each) {
    return each.graph == node.graph && each.task == node.task && each.processor == piece.processor;
  };
  auto at = std::ranges::find_if(result, is_same);
  if (at == result.end()) at = result.insert(at, {node.graph, node.task, piece.processor, {}});
  at->samples.insert(at->samples.end(), piece.samples.begin(), piece.samples.end());
}

std::vector<RehearsedNode> rehearsed(const std::vector<GraphToTime>& graphs,
                                     const TaskTimesOptions& options) {
  std::vector<RehearsedNode> nodes;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const GraphToTime& graph = graphs[g];
    const GraphRehearsal rehearsal(graph.graph, graph.group, graph.run_network,
                                   {options.patience, [] {}, options.between});
    for (std::size_t t = 0; t < graph.graph.tasks.size(); ++t)
      if (rehearsal.can_fire(t))
        nodes.push_back(
            {g, t, rehearsal.name_of(t), rehearsal.firing_of(t), graph.processors.at(t)});
  }
  return nodes;
}

}  // namespace

std::vector<TaskSamples> measure_graphs(const std::vector<GraphToTime>& graphs,
                                        const board::Board& board,
                                        const TaskTimesOptions& options) {
  const std::vector<RehearsedNode> nodes = rehearsed(graphs, options);
  std::size_t rounds = 0;
  for (const RehearsedNode& node : nodes) rounds = std::max(rounds, node.processors.size());
  std::vector<TaskSamples> result;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<TimedPiece> pieces;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      pieces.push_back({nodes[n].name, processor_in_round(nodes[n], n, round), nodes[n].fire});
    measure_pieces(pieces, board, {options, highest_priority - 1});
    for (std::size_t n = 0; n < nodes.size(); ++n) add_samples(result, nodes[n], pieces[n]);
  }
  std::ranges::sort(result, [](const TaskSamples& a, const TaskSamples& b) {
    return std::tie(a.graph, a.task, a.processor) < std::tie(b.graph, b.task, b.processor);
  });
  return result;
}

}  // namespace millrace::runtime
