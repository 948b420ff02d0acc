#pragma once
// Which share of its time a resource works.
#include <string>
#include <vector>

#include "realtime/task_system.h"

namespace millrace::realtime {

struct Utilisation {
  double share = 0;            // of the resource's time; more than 1: it cannot keep up
  bool is_overloaded = false;  // exactly: the share is more than 1, or a task's exceeds its slots
  std::vector<TaskId> tasks = {};  // of the resource; with a table: those that exceed their slots
};

/// By ResourceId.
std::vector<Utilisation> utilisations(const TaskSystem& system);

/// InputError naming the first resource that is overloaded, and its tasks.
void check_not_overloaded(const TaskSystem& system);

/// "resource 'gpu' has utilisation 1.25, more than 1: tasks 'a', 'b'".
std::string overload_text(const TaskSystem& system, ResourceId resource,
                          const Utilisation& utilisation);

}  // namespace millrace::realtime
