#pragma once
// Inside the room: the keys "tasks", "edges" and "graph" of a group.
#include "base/yaml.h"
#include "system/task_graph.h"

namespace millrace::system {

/// InputError with the place. Empty if the group has none of the keys.
TaskGraph read_task_graph(const YamlView& group, bool has_network);

}  // namespace millrace::system
