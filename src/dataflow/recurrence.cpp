#include "dataflow/recurrence.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "dataflow/checked.h"
#include "dataflow/self_timed.h"

namespace millrace::dataflow {
namespace {

using State = std::vector<std::int64_t>;

/// Words of all states that are kept: 400 MB.
constexpr std::size_t most_words = 50'000'000;
constexpr std::size_t words_of_outline = 4;  // that it was seen

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
  std::int64_t time, rounds;
};

/// States are kept only where the actor with the fewest firings has completed a round: every period
/// contains such an instant. And only from the second time on that their outline is seen, as a
/// state may grow with every round.
class Recurrence {
 public:
  Recurrence(std::size_t actor, std::int64_t firings) : actor_(actor), firings_(firings) {}

  std::optional<Regime> look(const SelfTimed& execution) {
    const std::int64_t rounds = execution.ended(actor_) / firings_;
    if (rounds == last_) return std::nullopt;
    last_ = rounds;
    largest_ = std::max(largest_, execution.state_size());
    if (outlines_.insert(StateHash()(execution.outline())).second) {
      words_ += words_of_outline;
      return std::nullopt;
    }
    const auto [before, fresh] =
        visits_.try_emplace(execution.state(), Visit{execution.now(), rounds});
    words_ += before->first.size() + sizeof(Visit);
    if (fresh) return std::nullopt;
    return Regime{false,
                  Fraction(execution.now() - before->second.time, rounds - before->second.rounds)};
  }

  /// Or few more states would fit.
  bool is_full() const { return words_ > most_words || largest_ > most_words / 16; }

 private:
  std::size_t actor_, words_ = 0, largest_ = 0;  // words: of all states, of the largest
  std::int64_t firings_, last_ = 0;
  std::unordered_set<std::size_t> outlines_;  // their hashes
  std::unordered_map<State, Visit, StateHash> visits_;
};

bool takes_no_time(const Graph& graph, const Component& component) {
  return std::all_of(component.actors.begin(), component.actors.end(), [&](std::size_t actor) {
    const auto& times = graph.actors[actor].times;
    return std::all_of(times.begin(), times.end(), [](Time time) { return time == Time{0}; });
  });
}

/// If time goes on, some cycle of firings takes time, and no firing gets further ahead of it in an
/// instant than tokens allow. What starts more than this in one instant does so for ever.
std::int64_t most_at_once(const Graph& graph, const Component& component) {
  std::int64_t firings = 0, rounds = 2;
  for (std::size_t at = 0; at < component.actors.size(); ++at)
    firings = checked_add(firings, firings_per_round(graph, component, at), graph.name);
  for (std::size_t c : component.channels)
    rounds = std::max(rounds, checked_add(2, graph.channels[c].initial_tokens, graph.name));
  const __int128 most = static_cast<__int128>(firings) * firings * 2 * rounds;
  constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();
  return most < endless ? static_cast<std::int64_t>(most) : endless;
}

}  // namespace

std::optional<Regime> periodic_regime(const Graph& graph, const Component& component,
                                      std::int64_t max_firings) {
  if (takes_no_time(graph, component)) {
    SelfTimed execution(graph, component);
    execution.stop_after_round();
    execution.settle(max_firings, max_firings);
    if (execution.started() > max_firings) return std::nullopt;
    return Regime{!execution.round_is_complete(), Fraction()};
  }
  std::size_t rarest = 0;
  for (std::size_t at = 0; at < component.actors.size(); ++at)
    if (firings_per_round(graph, component, at) < firings_per_round(graph, component, rarest))
      rarest = at;
  SelfTimed execution(graph, component);
  Recurrence recurrence(component.actors[rarest], firings_per_round(graph, component, rarest));
  const std::int64_t at_once = most_at_once(graph, component);
  do {
    execution.settle(max_firings, at_once);
    if (execution.started_now() > at_once) return Regime{false, Fraction()};
    if (execution.started() > max_firings || recurrence.is_full()) return std::nullopt;
    if (const auto found = recurrence.look(execution)) return found;
  } while (execution.advance());
  return Regime{true, Fraction()};
}

}  // namespace millrace::dataflow
