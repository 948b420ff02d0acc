#include "dataflow/graph.h"

#include <fmt/format.h>

#include <numeric>

#include "base/error.h"

namespace millrace::dataflow {
namespace {

void validate_rates(const Channel& channel, const std::vector<std::int64_t>& rates,
                    const Actor& actor) {
  if (rates.size() != actor.times.size())
    throw InputError(fmt::format("channel '{}'", channel.name),
                     fmt::format("found {} rates for actor '{}', which has {} phases; give one "
                                 "rate per phase",
                                 rates.size(), actor.name, actor.times.size()));
  for (std::int64_t rate : rates)
    if (rate < 0)
      throw InputError(fmt::format("channel '{}'", channel.name),
                       fmt::format("found the rate {}, expected 0 or more tokens", rate));
}

void validate_actor(const Actor& actor) {
  const std::string place = fmt::format("actor '{}'", actor.name);
  if (actor.times.empty()) throw InputError(place, "has no phases; give it at least one time");
  for (Time time : actor.times)
    if (time < Time{0})
      throw InputError(place,
                       fmt::format("found the time {} ns, expected 0 or more", time.count()));
}

}  // namespace

ActorId Graph::add_actor(Actor actor) {
  actors.push_back(std::move(actor));
  return ActorId(actors.size() - 1);
}

ChannelId Graph::add_channel(Channel channel) {
  channels.push_back(std::move(channel));
  return ChannelId(channels.size() - 1);
}

void validate(const Graph& graph) {
  for (const Actor& actor : graph.actors) validate_actor(actor);
  for (const Channel& channel : graph.channels) {
    if (channel.from.index >= graph.actors.size() || channel.to.index >= graph.actors.size())
      throw InputError(fmt::format("channel '{}'", channel.name),
                       "begins or ends at an actor that is not in the graph");
    validate_rates(channel, channel.production, graph[channel.from]);
    validate_rates(channel, channel.consumption, graph[channel.to]);
    if (channel.initial_tokens < 0)
      throw InputError(
          fmt::format("channel '{}'", channel.name),
          fmt::format("found {} initial tokens, expected 0 or more", channel.initial_tokens));
  }
}

void bound_channel(Graph& graph, ChannelId channel, std::int64_t capacity) {
  const Channel& forward = graph[channel];
  if (capacity < forward.initial_tokens)
    throw InputError(fmt::format("channel '{}'", forward.name),
                     fmt::format("a capacity of {} tokens cannot hold its {} initial tokens",
                                 capacity, forward.initial_tokens));
  graph.add_channel({.name = forward.name + " space",
                     .from = forward.to,
                     .to = forward.from,
                     .production = forward.consumption,
                     .consumption = forward.production,
                     .initial_tokens = capacity - forward.initial_tokens});
}

}  // namespace millrace::dataflow
