#pragma once
// By how much times may grow until a deadline is missed.
#include <cstdint>
#include <optional>

#include "realtime/analysis.h"

namespace millrace::realtime {

/// The system with every worst-case time, best-case time and kernel times `millionths` / 10^6,
/// rounded up. More than a million: a slower machine.
TaskSystem scaled(const TaskSystem& system, std::int64_t millionths);

/// The largest factor, in millionths, at which every deadline holds: at most 1000 times slower.
/// Below a million if a deadline is missed now; none if no factor helps, or nothing has a deadline.
std::optional<std::int64_t> largest_growth(const TaskSystem& system,
                                           const AnalysisOptions& options = {});

/// The largest worst-case time of this task at which every deadline holds; none as above.
std::optional<Time> largest_time(const TaskSystem& system, TaskId task,
                                 const AnalysisOptions& options = {});

}  // namespace millrace::realtime
