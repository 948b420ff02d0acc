#pragma once
// Where the thread that releases frames runs, and how long groups may be silent.
#include <filesystem>
#include <optional>
#include <vector>

#include "base/verdict.h"
#include "deployment/deployment.h"
#include "runtime/controller/controller.h"

namespace millrace::runtime {

/// None: any. InputError if there is no such core, or a deadline is asked for beside it.
/// `root`: where the system's /sys lies.
std::optional<int> core_of(const ControllerThread& thread, const std::filesystem::path& root = "/");

/// Binds the calling thread, and gives it SCHED_DEADLINE, or SCHED_FIFO with this priority; 0: it
/// stays an ordinary thread. No: SCHED_DEADLINE was refused, and it has SCHED_FIFO.
Verdict take_place(const ControllerThread& thread, std::optional<int> core, int priority,
                   Time shortest_period);

/// By GroupId: `times` the largest bound of its settings; without any, the longest deadline. Empty:
/// nobody looks.
std::vector<Time> patience_of(const deployment::Deployment& deployment, double times);

}  // namespace millrace::runtime
