#pragma once
// Inside the room: the keys "tasks", "edges" and "graph" of a group.
#include <functional>
#include <string>

#include "base/yaml.h"
#include "system/task_graph.h"

namespace millrace::system {

/// `path_of`: the file that a text names, relative to the system's folder.
using PathOf = std::function<std::string(const YamlView&)>;

/// InputError with the place. Empty if the group has none of the keys.
TaskGraph read_task_graph(const YamlView& group, bool has_network, const PathOf& path_of);

}  // namespace millrace::system
