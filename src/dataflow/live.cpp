#include <fmt/format.h>

#include <algorithm>

#include "dataflow/analysis.h"
#include "dataflow/checked.h"
#include "dataflow/parts.h"

namespace millrace::dataflow {
namespace {

/// More firings than this in one iteration are not simulated.
constexpr std::int64_t largest_iteration = 1'000'000'000;

/// One iteration, without times: every actor fires as often as it must, as soon as it can.
class Iteration {
 public:
  explicit Iteration(const Graph& graph)
      : graph_(graph), near_(neighbours(graph)), phase_(graph.actors.size(), 0) {
    for (const Channel& channel : graph.channels) tokens_.push_back(channel.initial_tokens);
    const std::vector<std::int64_t> cycles = repetition_vector(graph);
    std::int64_t firings = 0;
    for (std::size_t a = 0; a < cycles.size(); ++a) {
      const auto phases = static_cast<std::int64_t>(graph.actors[a].times.size());
      remaining_.push_back(checked_multiply(cycles[a], phases, graph.name));
      firings = checked_add(firings, remaining_.back(), graph.name);
    }
    if (firings > largest_iteration)
      throw InputError(graph.name,
                       fmt::format("one iteration takes {} firings, more than the {} that "
                                   "can be checked; make the rates smaller",
                                   firings, largest_iteration));
  }

  void run() {
    std::vector<std::size_t> open(graph_.actors.size());
    for (std::size_t a = 0; a < open.size(); ++a) open[a] = open.size() - 1 - a;
    while (!open.empty()) {
      const std::size_t actor = open.back();
      open.pop_back();
      if (!fire_while_possible(actor)) continue;
      for (std::size_t c : near_.outgoing[actor]) open.push_back(graph_.channels[c].to.index);
    }
  }

  bool complete() const {
    return std::all_of(remaining_.begin(), remaining_.end(), [](auto n) { return n == 0; });
  }

  /// Whoever cannot go on waits for a channel, and so for its producer, which cannot go on either:
  /// followed long enough, this is a cycle.
  std::string cycle() const {
    const auto stuck =
        std::find_if(remaining_.begin(), remaining_.end(), [](std::int64_t n) { return n > 0; });
    std::vector<std::size_t> path{static_cast<std::size_t>(stuck - remaining_.begin())};
    for (;;) {
      const std::size_t next = graph_.channels[lacking(path.back())].from.index;
      const auto before = std::find(path.begin(), path.end(), next);
      if (before != path.end()) return describe({before, path.end()});
      path.push_back(next);
    }
  }

 private:
  bool can_fire(std::size_t actor) const {
    return remaining_[actor] > 0 && lacking(actor) == graph_.channels.size();
  }

  /// The first channel with too few tokens for the actor's phase; the number of channels if none.
  std::size_t lacking(std::size_t actor) const {
    for (std::size_t c : near_.incoming[actor])
      if (tokens_[c] < graph_.channels[c].consumption[phase_[actor]]) return c;
    return graph_.channels.size();
  }

  bool fire_while_possible(std::size_t actor) {
    bool fired = false;
    for (; can_fire(actor); fired = true) {
      const std::size_t phase = phase_[actor];
      for (std::size_t c : near_.incoming[actor])
        tokens_[c] -= graph_.channels[c].consumption[phase];
      for (std::size_t c : near_.outgoing[actor])
        tokens_[c] =
            checked_add(tokens_[c], graph_.channels[c].production[phase], graph_.channels[c].name);
      phase_[actor] = (phase + 1) % graph_.actors[actor].times.size();
      --remaining_[actor];
    }
    return fired;
  }

  std::string describe(const std::vector<std::size_t>& actors) const {
    std::string text = "deadlock:";
    for (std::size_t actor : actors) {
      const Channel& channel = graph_.channels[lacking(actor)];
      text += fmt::format(
          "{} phase {} of '{}' waits for {} tokens in channel '{}' from '{}', which "
          "has {}",
          actor == actors.front() ? "" : ";", phase_[actor], graph_.actors[actor].name,
          channel.consumption[phase_[actor]], channel.name, graph_[channel.from].name,
          tokens_[lacking(actor)]);
    }
    return text;
  }

  const Graph& graph_;
  Neighbours near_;
  std::vector<std::size_t> phase_;
  std::vector<std::int64_t> tokens_, remaining_;
};

}  // namespace

Verdict is_live(const Graph& graph) {
  Iteration iteration(graph);
  iteration.run();
  return iteration.complete() ? Verdict::yes() : Verdict::no(iteration.cycle());
}

}  // namespace millrace::dataflow
