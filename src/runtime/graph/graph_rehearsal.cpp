#include "runtime/graph/graph_rehearsal.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>

#include "system/task_edges.h"

namespace millrace::runtime {
/// The bytes on each edge.
struct GraphRehearsal::Queues {
  explicit Queues(const GraphRehearsal& of) : graph(of.graph_), token_bytes(of.token_bytes_) {
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      bytes.emplace_back(static_cast<std::size_t>(graph.edges[e].tokens * token_bytes[e]));
  }

  /// What a firing of the node reads from each of its inputs, which is gone then.
  Memories take(std::size_t node) {
    Memories memories;
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      if (graph.edges[e].to != node) continue;
      auto& memory = memories.emplace_back(Bytes{graph.edges[e].consumes * token_bytes[e]});
      const auto end = bytes[e].begin() + memory.size().count;
      std::copy(bytes[e].begin(), end, memory.data());
      bytes[e].erase(bytes[e].begin(), end);
    }
    return memories;
  }
  /// To all edges that carry the output.
  void put(std::size_t node, std::size_t output, std::span<const std::byte> made) {
    const auto outputs = system::outputs_of_edges(graph);
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == node && outputs[e] == output)
        bytes[e].insert(bytes[e].end(), made.begin(), made.end());
  }

  const system::TaskGraph& graph;
  const std::vector<std::int64_t>& token_bytes;
  std::vector<std::deque<std::byte>> bytes;
};

GraphRehearsal::GraphRehearsal(const system::TaskGraph& graph, const GroupToRun& group,
                               const RunNetwork& run_network)
    : graph_(graph), token_bytes_(group.token_bytes), tasks_(graph.tasks.size()) {
  token_bytes_.resize(graph.edges.size());
  const auto outputs = system::outputs_of_edges(graph);
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    if (t < group.tasks.size() && group.tasks[t].make) tasks_[t].fire = group.tasks[t].make();
    std::map<std::size_t, Bytes> sizes;
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == t)
        sizes[outputs[e]] = Bytes{graph.edges[e].produces * token_bytes_[e]};
    for (const auto& [output, size] : sizes) tasks_[t].outputs.emplace_back(size);
  }
  run_iteration(run_network);
}

void GraphRehearsal::run_iteration(const RunNetwork& run_network) {
  Queues queues(*this);
  const bool has_network = static_cast<bool>(run_network);
  for (const system::GraphJob& job : system::unfolded(graph_, has_network)) {
    if (job.task == graph_.network()) {
      fire_network(queues, run_network);
      continue;
    }
    RehearsedTask& task = tasks_[job.task];
    task.inputs.push_back(queues.take(job.task));
    fire_once(task);
    for (std::size_t o = 0; o < task.outputs.size(); ++o)
      queues.put(job.task, o, std::as_const(task.outputs[o]).bytes());
  }
}

void GraphRehearsal::fire_network(Queues& queues, const RunNetwork& run_network) const {
  const std::size_t node = graph_.network();
  const Memories read = queues.take(node);
  run_network(
      [&](std::span<const std::span<std::byte>> inputs) {
        for (std::size_t i = 0; i < read.size(); ++i)
          std::ranges::copy(read[i].bytes(), inputs[i].data());
      },
      [&](std::span<const std::span<const std::byte>> outputs) {
        for (std::size_t o = 0; o < outputs.size(); ++o) queues.put(node, o, outputs[o]);
      });
}

void GraphRehearsal::fire_once(RehearsedTask& task) {
  if (!task.fire) return;
  const Memories& read = task.inputs[static_cast<std::size_t>(task.number) % task.inputs.size()];
  std::vector<std::span<const std::byte>> inputs;
  for (const network::Buffer& memory : read) inputs.push_back(memory.bytes());
  std::vector<std::span<std::byte>> outputs;
  for (network::Buffer& memory : task.outputs) outputs.push_back(memory.bytes());
  task.fire({task.number++, true, inputs, outputs, nullptr});
}

Time GraphRehearsal::fire(std::size_t task) {
  const auto begin = std::chrono::steady_clock::now();
  fire_once(tasks_[task]);
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace millrace::runtime
