#pragma once
// Plays the token game on a dataflow graph: no analysis, only firings.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "dataflow/analysis.h"

namespace millrace::test {

class TokenGame {
 public:
  explicit TokenGame(const dataflow::Graph& graph)
      : graph_(graph), fired_(graph.actors.size(), 0), to_fire_(graph.actors.size()) {
    const auto cycles = dataflow::repetition_vector(graph);
    for (std::size_t a = 0; a < to_fire_.size(); ++a)
      to_fire_[a] = static_cast<std::size_t>(cycles[a]) * graph.actors[a].times.size();
    for (const dataflow::Channel& channel : graph.channels)
      tokens_.push_back(channel.initial_tokens);
  }

  /// One iteration. Empty, or the actor that cannot end it, or the channel whose tokens changed.
  std::string play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t a = 0; a < fired_.size(); ++a)
        while (fired_[a] < to_fire_[a] && fire(a)) moved = true;
    }
    for (std::size_t a = 0; a < fired_.size(); ++a)
      if (fired_[a] < to_fire_[a])
        return fmt::format("{} stops after {} firings", graph_.actors[a].name, fired_[a]);
    for (std::size_t c = 0; c < tokens_.size(); ++c)
      if (tokens_[c] != graph_.channels[c].initial_tokens)
        return fmt::format("{} ends with {} tokens", graph_.channels[c].name, tokens_[c]);
    return {};
  }

 private:
  bool fire(std::size_t actor) {
    const std::size_t phase = fired_[actor] % graph_.actors[actor].times.size();
    for (std::size_t c = 0; c < tokens_.size(); ++c) {
      const dataflow::Channel& channel = graph_.channels[c];
      if (channel.to.index == actor && tokens_[c] < channel.consumption[phase]) return false;
    }
    for (std::size_t c = 0; c < tokens_.size(); ++c) {
      const dataflow::Channel& channel = graph_.channels[c];
      if (channel.to.index == actor) tokens_[c] -= channel.consumption[phase];
      if (channel.from.index == actor) tokens_[c] += channel.production[phase];
    }
    ++fired_[actor];
    return true;
  }

  const dataflow::Graph& graph_;
  std::vector<std::size_t> fired_, to_fire_;  // by actor
  std::vector<std::int64_t> tokens_;          // by channel
};

inline std::string played(const dataflow::Graph& graph) { return TokenGame(graph).play(); }

}  // namespace millrace::test
