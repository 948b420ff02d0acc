#include "system/task_graph.h"

#include <algorithm>
#include <deque>

#include "dataflow/analysis.h"

namespace millrace::system {
namespace {

Time longest(const GraphTask& task) {
  Time result{};
  for (const TimesOn& on : task.on) result = std::max(result, on.worst);
  return result;
}

/// Jobs by task and firing, before they are put in order.
class Unfolding {
 public:
  Unfolding(const TaskGraph& graph, bool has_network) : counts_(firings(graph, has_network)) {
    for (std::size_t t = 0; t < counts_.size(); ++t) {
      first_.push_back(jobs_.size());
      for (std::int64_t firing = 0; firing < counts_[t]; ++firing) {
        jobs_.push_back({t, firing});
        if (firing > 0) jobs_.back().after.push_back(jobs_.size() - 2);
      }
    }
    for (const GraphEdge& edge : graph.edges) add(edge);
  }

  /// Each after those that it waits for; among those that are ready, as they stand in the file.
  std::vector<GraphJob> in_order() {
    std::vector<std::size_t> place(jobs_.size(), jobs_.size());
    std::vector<GraphJob> result;
    while (result.size() < jobs_.size()) {
      const std::size_t before = result.size();
      for (std::size_t j = 0; j < jobs_.size(); ++j) {
        const auto is_placed = [&](std::size_t other) { return place[other] < jobs_.size(); };
        if (is_placed(j) || !std::ranges::all_of(jobs_[j].after, is_placed)) continue;
        place[j] = result.size();
        result.push_back(jobs_[j]);
      }
      if (result.size() == before) break;  // only if the precondition does not hold
    }
    for (GraphJob& job : result) {
      for (std::size_t& other : job.after) other = place[other];
      std::ranges::sort(job.after);
    }
    return result;
  }

 private:
  void add(const GraphEdge& edge) {
    for (std::int64_t firing = 0; firing < counts_[edge.to]; ++firing) {
      const std::int64_t needed = (firing + 1) * edge.consumes - edge.tokens;
      if (needed <= 0) continue;
      const std::int64_t producer = (needed + edge.produces - 1) / edge.produces - 1;
      const std::size_t other = first_[edge.from] + static_cast<std::size_t>(producer);
      auto& after = jobs_[first_[edge.to] + static_cast<std::size_t>(firing)].after;
      if (std::ranges::find(after, other) == after.end()) after.push_back(other);
    }
  }

  const std::vector<std::int64_t> counts_;
  std::vector<std::size_t> first_;  // by task: its first job
  std::vector<GraphJob> jobs_;
};

}  // namespace

dataflow::Graph dataflow_graph(const TaskGraph& graph, bool has_network) {
  dataflow::Graph result;
  for (const GraphTask& task : graph.tasks) result.add_actor({task.name, {longest(task)}});
  if (has_network) result.add_actor({network_node, {Time{}}});
  for (const GraphEdge& edge : graph.edges) {
    const dataflow::ActorId from(edge.from), to(edge.to);
    dataflow::Channel channel{result[from].name + " to " + result[to].name, from, to, {}, {}};
    channel.production = {edge.produces};
    channel.consumption = {edge.consumes};
    channel.initial_tokens = edge.tokens;
    channel.token_bits = 8 * edge.bytes;
    result.add_channel(std::move(channel));
  }
  return result;
}

std::vector<std::int64_t> firings(const TaskGraph& graph, bool has_network) {
  return dataflow::repetition_vector(dataflow_graph(graph, has_network));
}

std::vector<GraphJob> unfolded(const TaskGraph& graph, bool has_network) {
  return Unfolding(graph, has_network).in_order();
}

bool waits_for_earlier_iterations(const TaskGraph& graph) {
  return std::ranges::any_of(graph.edges, [](const GraphEdge& edge) { return edge.tokens > 0; });
}

}  // namespace millrace::system
