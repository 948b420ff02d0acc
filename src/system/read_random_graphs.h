#pragma once
// Inside the room: the key "random_graphs" of a system.
#include <vector>

#include "base/yaml.h"
#include "system/random_graph.h"

namespace millrace::system {

/// What each graph is to be made from, with a seed of its own. InputError with the place.
std::vector<RandomGraph> read_random_graphs(const YamlView& view);

}  // namespace millrace::system
