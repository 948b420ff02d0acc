#pragma once
// Inside the room: what a group's task graph must fulfil.
#include "system/system.h"

namespace millrace::system {

/// InputError with the place: no task, a task without processor or with a worst time of 0, edges of
/// what is not there, rates that are inconsistent, a circle without tokens.
void check_task_graph(const System& system, GroupId group);

}  // namespace millrace::system
