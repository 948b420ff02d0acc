#pragma once
// Cyclo-static dataflow (Bilsen et al. 1996); synchronous dataflow (Lee and Messerschmitt 1987)
// is the case of one phase. Pure mathematics: knows nothing of networks.
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace millrace::dataflow {

using ActorId = Id<struct ActorTag>;
using ChannelId = Id<struct ChannelTag>;

/// Fires its phases cyclically and in order. A firing begins when the one before it has ended (in
/// plans an actor is a thread), or, if the actor is `concurrent`, at the earliest when the one
/// before it begins; a channel from the actor to itself then says how many firings may overlap.
struct Actor {
  std::string name;
  std::vector<Time> times;  // one execution time per phase; at least one phase
  bool concurrent = false;  // auto-concurrency
};

/// A FIFO: tokens are consumed in the order in which the producer's firings began. They are claimed
/// when the consumer starts and appear when the producer ends.
struct Channel {
  std::string name;
  ActorId from, to;                       // may be the same actor
  std::vector<std::int64_t> production;   // per phase of `from`
  std::vector<std::int64_t> consumption;  // per phase of `to`
  std::int64_t initial_tokens = 0;
  std::int64_t token_bits = 0;  // size of a token; 0: not known
};

/// G(A, C).
struct Graph {
  std::string name;
  std::vector<Actor> actors;
  std::vector<Channel> channels;

  ActorId add_actor(Actor actor);
  ChannelId add_channel(Channel channel);
  const Actor& operator[](ActorId id) const { return actors[id.index]; }
  const Channel& operator[](ChannelId id) const { return channels[id.index]; }
};

/// Checks ids, lengths of sequences, signs. InputError naming actor or channel.
void validate(const Graph& graph);

/// Bounds a channel: adds the reverse channel with capacity - initial_tokens tokens. Space is
/// claimed when the producer starts and freed when the consumer ends.
void bound_channel(Graph& graph, ChannelId channel, std::int64_t capacity);

}  // namespace millrace::dataflow
