#include <limits>

#include "dataflow/analysis.h"
#include "dataflow/self_timed.h"

namespace millrace::dataflow {

Time latency(const Graph& graph) {
  Component whole;
  whole.cycles = repetition_vector(graph);
  for (std::size_t a = 0; a < graph.actors.size(); ++a) whole.actors.push_back(a);
  for (std::size_t c = 0; c < graph.channels.size(); ++c) whole.channels.push_back(c);
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  SelfTimed execution(graph, whole);
  execution.stop_after_round();
  do {
    execution.settle(endless, endless);
  } while (execution.advance());
  return Time{execution.now()};
}

}  // namespace millrace::dataflow
