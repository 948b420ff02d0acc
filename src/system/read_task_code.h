#pragma once
// Inside the room: what several kinds of task graphs say of tasks.
#include "system/read_task_graph.h"

namespace millrace::system {

/// The key "code" of a task. InputError with the place.
TaskCode read_code(const YamlView& view);

/// A group whose "graph" is an SDF3 file; its keys "code" and "processors" say what the file does
/// not. InputError with the place.
TaskGraph read_sdf3_graph(const YamlView& group, bool has_network);

}  // namespace millrace::system
