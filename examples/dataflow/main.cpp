// A sample-rate converter as a dataflow graph: is it sound, how fast, with how much memory?
#include <cstdio>

#include "dataflow/analysis.h"
#include "dataflow/buffers.h"

int main() {
  using namespace millrace::dataflow;
  using millrace::Time;

  // Three samples in, two out. Each actor fires one phase at a time; times are in any unit.
  Graph graph;
  const ActorId source = graph.add_actor({"source", {Time{1}}});
  const ActorId filter = graph.add_actor({"filter", {Time{2}, Time{3}}});  // two phases
  const ActorId sink = graph.add_actor({"sink", {Time{2}}});
  graph.add_channel({"in", source, filter, {1}, {2, 1}});  // name, from, to, produced, consumed
  graph.add_channel({"out", filter, sink, {1, 1}, {1}});

  const auto cycles = repetition_vector(graph);
  for (std::size_t a = 0; a < cycles.size(); ++a)
    std::printf("%s fires %lld cycles\n", graph.actors[a].name.c_str(),
                static_cast<long long>(cycles[a]));
  if (const auto live = is_live(graph); !live) std::printf("%s\n", live.reason().c_str());

  const auto fastest = throughput(graph);
  std::printf("one iteration every %s, because of %s\n", fastest->period().text().c_str(),
              graph[fastest->critical_cycle.front().actor].name.c_str());
  for (const Sizing& point : pareto_front(graph).points)
    std::printf("%lld tokens of space: one every %s\n", static_cast<long long>(point.total),
                point.period.text().c_str());
}
