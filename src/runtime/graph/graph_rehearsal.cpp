#include "runtime/graph/graph_rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>

#include "system/task_edges.h"

namespace millrace::runtime {

/// One iteration of the graph: the bytes on each edge. Shared by the thread that runs it and the
/// one that waits.
struct GraphRehearsal::Iteration {
  Iteration(const system::TaskGraph& of, std::vector<std::int64_t> bytes_of_tokens, RunNetwork run)
      : graph(of),
        outputs(system::outputs_of_edges(of)),
        token_bytes(std::move(bytes_of_tokens)),
        run_network(std::move(run)) {
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      bytes.emplace_back(static_cast<std::size_t>(graph.edges[e].tokens * token_bytes[e]));
  }

  void run(std::vector<RehearsedTask>& tasks) {
    for (const system::GraphJob& job : system::unfolded(graph, static_cast<bool>(run_network))) {
      if (stopping) return;
      if (job.task == graph.network())
        fire_network();
      else
        fire_task(job.task, tasks[job.task]);
    }
  }

  void fire_task(std::size_t node, RehearsedTask& task) {
    task.inputs.push_back(take(node));
    at_work->begin(task.name);
    fire_once(task, &stopping);
    at_work->end();
    for (std::size_t o = 0; o < task.outputs.size(); ++o)
      put(node, task.outputs[o], std::as_const(task.made[o]).bytes());
  }

  void fire_network() {
    const Memories read = take(graph.network());
    run_network(
        [&](std::span<const std::span<std::byte>> inputs) {
          for (std::size_t i = 0; i < read.size(); ++i)
            std::ranges::copy(read[i].bytes(), inputs[i].data());
        },
        [&](std::span<const std::span<const std::byte>> made) {
          for (std::size_t o = 0; o < made.size(); ++o) put(graph.network(), o, made[o]);
        });
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
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == node && outputs[e] == output)
        bytes[e].insert(bytes[e].end(), made.begin(), made.end());
  }

  const system::TaskGraph graph;
  const std::vector<std::size_t> outputs;  // by edge
  const std::vector<std::int64_t> token_bytes;
  const RunNetwork run_network;
  std::vector<std::deque<std::byte>> bytes;
  const std::shared_ptr<AtWork> at_work = std::make_shared<AtWork>();  // with who waits
  std::atomic<bool> stopping{false};
  std::exception_ptr thrown;
};

GraphRehearsal::GraphRehearsal(const system::TaskGraph& graph, const GroupToRun& group,
                               const RunNetwork& run_network, const Watchdog& watchdog)
    : tasks_(std::make_shared<std::vector<RehearsedTask>>(graph.tasks.size())) {
  std::vector<std::int64_t> token_bytes = group.token_bytes;
  token_bytes.resize(graph.edges.size());
  const auto outputs = system::outputs_of_edges(graph);
  for (std::size_t t = 0; t < tasks_->size(); ++t) {
    RehearsedTask& task = (*tasks_)[t];
    task.name = fmt::format("{}task '{}'",
                            group.name.empty() ? "" : fmt::format("group '{}': ", group.name),
                            graph.tasks[t].name);
    if (t < group.tasks.size() && group.tasks[t].make) task.fire = group.tasks[t].make();
    std::map<std::size_t, Bytes> sizes;
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == t)
        sizes[outputs[e]] = Bytes{graph.edges[e].produces * token_bytes[e]};
    for (const auto& [output, size] : sizes) {
      task.outputs.push_back(output);
      task.made.emplace_back(size);
    }
  }
  const auto iteration = std::make_shared<Iteration>(graph, std::move(token_bytes), run_network);
  const auto run = [iteration, tasks = tasks_] {
    try {
      iteration->run(*tasks);
    } catch (...) {
      iteration->thrown = std::current_exception();
    }
  };
  run_watched({{run, iteration->at_work}},
         {watchdog.patience, [&] { iteration->stopping = true; }, watchdog.between});
  if (iteration->thrown) std::rethrow_exception(iteration->thrown);
}

void GraphRehearsal::fire_once(RehearsedTask& task, const std::atomic<bool>* stopping) {
  if (!task.fire) return;
  const Memories& read = task.inputs[static_cast<std::size_t>(task.number) % task.inputs.size()];
  std::vector<std::span<const std::byte>> inputs;
  for (const network::Buffer& memory : read) inputs.push_back(memory.bytes());
  std::vector<std::span<std::byte>> outputs;
  for (network::Buffer& memory : task.made) outputs.push_back(memory.bytes());
  fire_named(task.fire, {task.number++, true, inputs, outputs, stopping}, task.name);
}

std::function<Time()> GraphRehearsal::firing_of(std::size_t task) const {
  return [tasks = tasks_, task] {
    const auto begin = std::chrono::steady_clock::now();
    fire_once((*tasks)[task], nullptr);
    return std::chrono::steady_clock::now() - begin;
  };
}

}  // namespace millrace::runtime
