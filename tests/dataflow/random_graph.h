#pragma once
// Consistent graphs by chance; some of them deadlock.
#include <random>

#include "dataflow/graph.h"

namespace millrace::dataflow::test {

struct RandomShape {
  std::int64_t most_actors = 6;
  std::int64_t most_cycles = 6;  // of an actor per iteration
  std::int64_t most_phases = 3;
  std::int64_t longest = 9;      // times are 0 to this
  std::int64_t most_rounds = 2;  // whose tokens lie on a channel from the beginning
};

using Chance = std::mt19937_64;

/// From `least` to `most`, both included.
std::int64_t pick(Chance& chance, std::int64_t least, std::int64_t most);

/// All actors are connected, about half of the graphs strongly.
Graph random_graph(Chance& chance, const RandomShape& shape = {});

/// With these full cycles per iteration.
Graph random_graph(Chance& chance, const RandomShape& shape,
                   const std::vector<std::int64_t>& cycles);

}  // namespace millrace::dataflow::test
