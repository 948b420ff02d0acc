#pragma once
// Shorthand for graphs in tests.
#include <string>
#include <vector>

#include "base/error.h"
#include "dataflow/graph.h"
#include "support/message_of.h"

namespace millrace::dataflow::test {

using millrace::test::message_of;

inline ActorId actor(Graph& graph, std::string name, const std::vector<std::int64_t>& times) {
  Actor result{std::move(name), {}};
  for (std::int64_t time : times) result.times.emplace_back(time);
  return graph.add_actor(std::move(result));
}

using Rates = std::vector<std::int64_t>;

/// One side of a channel: an actor and its rates.
struct Side {
  ActorId actor;
  Rates rates;
};

inline ChannelId channel(Graph& graph, const Side& from, const Side& to, std::int64_t tokens = 0) {
  return graph.add_channel({.name = graph[from.actor].name + graph[to.actor].name,
                            .from = from.actor,
                            .to = to.actor,
                            .production = from.rates,
                            .consumption = to.rates,
                            .initial_tokens = tokens});
}

}  // namespace millrace::dataflow::test
