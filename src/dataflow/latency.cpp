#include <algorithm>
#include <limits>

#include "dataflow/analysis.h"
#include "dataflow/self_timed.h"

namespace millrace::dataflow {
namespace {

Component whole_of(const Graph& graph) {
  Component whole;
  whole.cycles = repetition_vector(graph);
  for (std::size_t a = 0; a < graph.actors.size(); ++a) whole.actors.push_back(a);
  for (std::size_t c = 0; c < graph.channels.size(); ++c) whole.channels.push_back(c);
  return whole;
}

/// Notes when the firings of an actor end.
class Ends {
 public:
  Ends(std::size_t actor, std::int64_t count) : actor_(actor), count_(count) {}
  void look(const SelfTimed& execution) {
    const std::int64_t ended = std::min(execution.ended(actor_), count_);
    at_.resize(std::max(at_.size(), static_cast<std::size_t>(ended)), execution.now());
  }
  bool complete() const { return static_cast<std::int64_t>(at_.size()) == count_; }
  std::int64_t operator[](std::int64_t firing) const {
    return at_[static_cast<std::size_t>(firing)];
  }

 private:
  std::size_t actor_;
  std::int64_t count_;
  std::vector<std::int64_t> at_;
};

}  // namespace

std::optional<Time> longest_delay(const Graph& graph, const FiringPairs& pairs,
                                  std::int64_t max_firings) {
  const Component whole = whole_of(graph);
  SelfTimed execution(graph, whole);
  Ends first(pairs.first.index, pairs.count);
  Ends second(pairs.second.index, pairs.count + pairs.skip);
  while (!first.complete() || !second.complete()) {
    execution.settle(max_firings, max_firings);
    if (execution.started() > max_firings) return std::nullopt;
    first.look(execution);
    second.look(execution);
    if (!execution.advance() && !(first.complete() && second.complete())) return std::nullopt;
  }
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < pairs.count; ++i)
    longest = std::max(longest, second[i + pairs.skip] - first[i]);
  return Time{longest};
}

Time latency(const Graph& graph) {
  const Component whole = whole_of(graph);
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  SelfTimed execution(graph, whole);
  execution.stop_after_round();
  do {
    execution.settle(endless, endless);
  } while (execution.advance());
  return Time{execution.now()};
}

}  // namespace millrace::dataflow
