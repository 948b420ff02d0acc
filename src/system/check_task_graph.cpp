#include "system/check_task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "dataflow/analysis.h"
#include "system/task_edges.h"

namespace millrace::system {
namespace {

constexpr std::int64_t most_jobs = 1000;
constexpr std::int64_t most_rate = 1'000'000;

/// Names that the deployment gives to the parts of a network.
bool is_taken(const std::string& name) {
  return name == network_node || name == "pre" || name == "post" || name.starts_with("stage");
}

void check_times(const GraphTask& task, const TimesOn& on) {
  const bool has_none = on.worst == Time{} && on.average == Time{} && on.best == Time{};
  if (has_none && task.code.function.empty() && !task.network)
    throw InputError(task.place, fmt::format("task '{}' has no time on '{}', and no 'code' that "
                                             "could be measured; add its worst time in ms",
                                             task.name, on.processor));
  if (has_none) return;
  if (on.worst <= Time{} || on.worst < on.average || on.average < on.best || on.best < Time{})
    throw InputError(
        task.place,
        fmt::format("task '{}' takes {} at best, {} on average and {} at worst on "
                    "'{}', expected them ascending and the last above 0",
                    task.name, millrace::to_text(on.best), millrace::to_text(on.average),
                    millrace::to_text(on.worst), on.processor));
}

void check_task(const GraphTask& task, std::set<std::string>& names) {
  if (task.name.empty()) throw InputError(task.place, "a task needs a name");
  if (is_taken(task.name))
    throw InputError(task.place,
                     fmt::format("the name '{}' stands for a part of the network; give the task "
                                 "another",
                                 task.name));
  if (!names.insert(task.name).second)
    throw InputError(task.place,
                     fmt::format("found a second task '{}'; give it another name", task.name));
  if (task.on.empty())
    throw InputError(task.place,
                     fmt::format("task '{}' can run on no processor, expected one at least in "
                                 "'on', with its worst time",
                                 task.name));
  for (const TimesOn& on : task.on) check_times(task, on);
}

void check_edge(const GraphEdge& edge) {
  const auto is_rate = [](std::int64_t rate) { return rate >= 1 && rate <= most_rate; };
  if (!is_rate(edge.produces) || !is_rate(edge.consumes) || edge.tokens < 0 ||
      edge.tokens > most_rate * most_rate || edge.bytes < 0)
    throw InputError(edge.place,
                     fmt::format("found {} tokens produced, {} consumed and {} there before, "
                                 "expected the first two from 1 to {}",
                                 edge.produces, edge.consumes, edge.tokens, most_rate));
}

/// Edges that carry the same output get the same tokens.
void check_outputs(const TaskGraph& graph) {
  const std::vector<std::size_t> outputs = outputs_of_edges(graph);
  for (std::size_t e = 0; e < graph.edges.size(); ++e)
    for (std::size_t before = 0; before < e; ++before) {
      const GraphEdge &edge = graph.edges[e], &other = graph.edges[before];
      if (edge.from != other.from || outputs[e] != outputs[before]) continue;
      if (edge.produces != other.produces ||
          (edge.bytes != 0 && other.bytes != 0 && edge.bytes != other.bytes) ||
          (edge.token && other.token && edge.token != other.token))
        throw InputError(edge.place, fmt::format("carries output {} as another edge does, expected "
                                                 "the same 'produces', type and size on both",
                                                 outputs[e]));
    }
}

/// A deployment calls the second firing of 'blur' "blur.1".
void check_job_names(const Group& group, const std::vector<std::int64_t>& counts) {
  std::set<std::string> jobs;
  for (std::size_t t = 0; t < group.graph.tasks.size(); ++t)
    for (std::int64_t firing = 1; firing < counts[t]; ++firing)
      jobs.insert(fmt::format("{}.{}", group.graph.tasks[t].name, firing));
  for (const GraphTask& task : group.graph.tasks)
    if (jobs.contains(task.name))
      throw InputError(task.place,
                       fmt::format("the name '{}' stands for a later firing of another task; give "
                                   "the task another",
                                   task.name));
}

void check_flow(const Group& group) {
  const bool has_network = group.has_network();
  const dataflow::Graph graph = dataflow_graph(group.graph, has_network);
  const auto fail = [&](const std::string& text) {
    throw InputError(group.place, fmt::format("the task graph of group '{}' {}", group.name, text));
  };
  if (const Verdict consistent = is_consistent(graph); !consistent)
    fail("is inconsistent: " + consistent.reason());
  const std::vector<std::int64_t> counts = dataflow::repetition_vector(graph);
  const std::int64_t jobs = std::accumulate(
      counts.begin(), counts.end(), std::int64_t{0},
      [](std::int64_t sum, std::int64_t count) { return std::min(sum, most_jobs) + count; });
  if (jobs > most_jobs)
    fail(
        fmt::format("has more than {} firings in an iteration; choose rates that are closer to "
                    "each other",
                    most_jobs));
  check_job_names(group, counts);
  if (has_network && counts.back() != 1)
    fail(
        fmt::format("runs the network {} times in an iteration, expected once; make the rates of "
                    "its edges larger",
                    counts.back()));
  if (const Verdict live = is_live(graph); !live)
    fail("has a circle without enough tokens: " + live.reason());
}

}  // namespace

void check_task_graph(const System& system, GroupId id) {
  const Group& group = system[id];
  if (group.graph.empty()) {
    if (!group.has_network() && group.times.empty())
      throw InputError(group.place,
                       fmt::format("group '{}' has no tasks and no network; add one", group.name));
    return;
  }
  std::set<std::string> names;
  for (const GraphTask& task : group.graph.tasks) check_task(task, names);
  for (const GraphEdge& edge : group.graph.edges) check_edge(edge);
  check_outputs(group.graph);
  check_flow(group);
  const std::int64_t last = system.levels - 1;
  if (waits_for_earlier_iterations(group.graph) && !group.events.aperiodic &&
      deadline_of(system, id, last) > shortest_distance(system, id, last))
    throw InputError(group.place,
                     fmt::format("group '{}' has tokens from one iteration to the next and a "
                                 "deadline beyond {}, expected at most that",
                                 group.name,
                                 group.events == Events{} ? "its period"
                                                          : "the least time between two frames"));
}

}  // namespace millrace::system
