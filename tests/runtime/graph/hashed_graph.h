#pragma once
// Tasks that make numbers of what they read, so that each token that is wrong, missing or at the
// wrong place changes what follows; and a plain sequential execution of their graph.
#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "runtime/controller/group_to_run.h"
#include "system/task_edges.h"
#include "system/task_graph.h"

namespace millrace::test {

using Number = std::uint64_t;

inline Number mixed(Number state, Number value) {
  state = (state ^ value) * 0x9e3779b97f4a7c15u;
  return state ^ (state >> 29);
}

/// A firing of the task: what it has read so far, and what it makes of that.
struct HashedTask {
  Number digest = 1;
  void read(Number token) { digest = mixed(digest, token); }
  Number made(std::size_t output, std::size_t index) const {
    return mixed(mixed(digest, output), index);
  }
};

/// The same as code for a group. `digests`: by task; they outlive it.
inline std::vector<runtime::TaskToRun> hashed_code(const system::TaskGraph& graph,
                                                   std::vector<Number>& digests) {
  std::vector<runtime::TaskToRun> tasks;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t)
    tasks.push_back({[t, &digests] {
      return
          [task = HashedTask{t}, &digest = digests.at(t)](const runtime::Firing& firing) mutable {
            const auto number_at = [](auto bytes, std::size_t i) {
              Number number = 0;
              std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
              return number;
            };
            task.read(static_cast<Number>(firing.number));
            for (const auto& input : firing.inputs)
              for (std::size_t i = 0; i < input.size() / sizeof(Number); ++i)
                task.read(number_at(input, i));
            for (std::size_t o = 0; o < firing.outputs.size(); ++o)
              for (std::size_t i = 0; i < firing.outputs[o].size() / sizeof(Number); ++i) {
                const Number made = task.made(o, i);
                std::memcpy(firing.outputs[o].data() + i * sizeof made, &made, sizeof made);
              }
            digest = task.digest;
          };
    }});
  return tasks;
}

/// What the tasks have read after so many iterations, by task: queues, and tasks fired in turn
/// whenever they can.
inline std::vector<Number> hashed_sequentially(const system::TaskGraph& graph,
                                               std::int64_t iterations) {
  std::vector<std::deque<Number>> queues(graph.edges.size());
  for (std::size_t e = 0; e < queues.size(); ++e)
    queues[e].assign(static_cast<std::size_t>(graph.edges[e].tokens), 0);
  const auto outputs = system::outputs_of_edges(graph);
  auto left = system::firings(graph, false);
  for (auto& count : left) count *= iterations;
  std::vector<HashedTask> tasks;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) tasks.push_back({t});
  std::vector<Number> fired(tasks.size());
  const auto fire_if_ready = [&](std::size_t t) {
    if (left[t] == 0) return false;
    for (std::size_t e = 0; e < queues.size(); ++e)
      if (graph.edges[e].to == t &&
          queues[e].size() < static_cast<std::size_t>(graph.edges[e].consumes))
        return false;
    tasks[t].read(fired[t]++);
    for (std::size_t e = 0; e < queues.size(); ++e)
      for (std::int64_t i = 0; graph.edges[e].to == t && i < graph.edges[e].consumes; ++i) {
        tasks[t].read(queues[e].front());
        queues[e].pop_front();
      }
    for (std::size_t e = 0; e < queues.size(); ++e)
      for (std::int64_t i = 0; graph.edges[e].from == t && i < graph.edges[e].produces; ++i)
        queues[e].push_back(tasks[t].made(outputs[e], static_cast<std::size_t>(i)));
    --left[t];
    return true;
  };
  for (bool any = true; any;) {
    any = false;
    for (std::size_t t = 0; t < tasks.size(); ++t) any = fire_if_ready(t) || any;
  }
  std::vector<Number> digests;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    digests.push_back(left[t] == 0 ? tasks[t].digest : 0);
  return digests;
}

}  // namespace millrace::test
