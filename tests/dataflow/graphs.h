#pragma once
// Shorthand for graphs in tests.
#include <string>
#include <vector>

#include "base/error.h"
#include "dataflow/graph.h"

namespace millrace::dataflow::test {

inline ActorId actor(Graph& graph, std::string name, const std::vector<std::int64_t>& times) {
  Actor result{std::move(name), {}};
  for (std::int64_t time : times) result.times.emplace_back(time);
  return graph.add_actor(std::move(result));
}

using Rates = std::vector<std::int64_t>;

inline ChannelId channel(Graph& graph, ActorId from, const Rates& production, ActorId to,
                         const Rates& consumption, std::int64_t tokens = 0) {
  return graph.add_channel({.name = graph[from].name + graph[to].name,
                            .from = from,
                            .to = to,
                            .production = production,
                            .consumption = consumption,
                            .initial_tokens = tokens});
}

inline std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace millrace::dataflow::test
