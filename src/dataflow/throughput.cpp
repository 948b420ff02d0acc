#include <algorithm>
#include <limits>
#include <unordered_map>

#include "dataflow/analysis.h"
#include "dataflow/checked.h"
#include "dataflow/self_timed.h"

namespace millrace::dataflow {
namespace {

using State = std::vector<std::int64_t>;

struct StateHash {
  std::size_t operator()(const State& state) const {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::int64_t word : state) {
      hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

struct Visit {
  std::int64_t time, iterations;
};

bool takes_no_time(const Graph& graph, const std::vector<std::size_t>& part) {
  return std::all_of(part.begin(), part.end(), [&](std::size_t actor) {
    const auto& times = graph.actors[actor].times;
    return std::all_of(times.begin(), times.end(), [](Time time) { return time == Time{0}; });
  });
}

/// States are kept only where the actor with the fewest firings has completed an iteration: every
/// period contains such an instant.
class Recurrence {
 public:
  Recurrence(std::size_t actor, std::int64_t firings) : actor_(actor), firings_(firings) {}

  std::optional<Throughput> look(const SelfTimed& execution) {
    const std::int64_t iterations = execution.ended(actor_) / firings_;
    if (iterations == last_) return std::nullopt;
    last_ = iterations;
    const auto [before, fresh] =
        visits_.try_emplace(execution.state(), Visit{execution.now(), iterations});
    if (fresh) return std::nullopt;
    return Throughput{Time{execution.now() - before->second.time},
                      iterations - before->second.iterations};
  }

 private:
  std::size_t actor_;
  std::int64_t firings_, last_ = 0;
  std::unordered_map<State, Visit, StateHash> visits_;
};

struct Exploration {
  const Graph& graph;
  Neighbours near;
  std::vector<std::int64_t> firings;  // per iteration, by actor
  std::int64_t max_firings;
};

std::optional<Throughput> throughput_of_part(const Exploration& all,
                                             const std::vector<std::size_t>& part) {
  if (takes_no_time(all.graph, part)) return Throughput{Time{0}, 1};
  const std::size_t rarest = *std::min_element(
      part.begin(), part.end(), [&](auto a, auto b) { return all.firings[a] < all.firings[b]; });
  SelfTimed execution(all.graph, all.near, part);
  Recurrence recurrence(rarest, all.firings[rarest]);
  do {
    execution.settle(all.max_firings);
    if (execution.started() > all.max_firings) return std::nullopt;
    if (const auto found = recurrence.look(execution)) return found;
  } while (execution.advance());
  return std::nullopt;
}

/// Whether one iteration takes longer than in `other`.
bool slower(const Throughput& one, const Throughput& other) {
  return static_cast<__int128>(one.span.count()) * other.iterations >
         static_cast<__int128>(other.span.count()) * one.iterations;
}

}  // namespace

double Throughput::per_second() const {
  if (iterations == 0) return 0;
  if (span == Time{0}) return std::numeric_limits<double>::infinity();
  return static_cast<double>(iterations) / seconds(span);
}

std::optional<Throughput> throughput(const Graph& graph, std::int64_t max_firings) {
  Exploration all{graph, neighbours(graph), repetition_vector(graph), max_firings};
  for (std::size_t a = 0; a < all.firings.size(); ++a)
    all.firings[a] = checked_multiply(
        all.firings[a], static_cast<std::int64_t>(graph.actors[a].times.size()), graph.name);
  Throughput slowest{Time{0}, 1};
  for (const auto& part : connected_parts(graph)) {
    const auto found = throughput_of_part(all, part);
    if (!found) return std::nullopt;
    if (slower(*found, slowest)) slowest = *found;
  }
  return slowest;
}

}  // namespace millrace::dataflow
