#pragma once
// What was asked of a task system, for people and for programs.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "realtime/answers.h"
#include "realtime/files/task_file.h"

namespace millrace::present {

std::string realtime_text(const realtime::TaskFile& file, const realtime::RealtimeAnswers& answers);
std::string realtime_json(const realtime::TaskFile& file, const realtime::RealtimeAnswers& answers);

/// "no bound: 'f1': ...", a line for each of the first `flows` that has none.
std::string no_bounds_text(const realtime::TaskSystem& system, const realtime::Bounds& bounds,
                           std::size_t flows);
/// Null for a flow with a bound.
nlohmann::json no_bound_json(const realtime::TaskSystem& system, const realtime::Bounds& bounds,
                             std::size_t flow);

/// The run in which the flow with the least slack took longest, as SVG. Precondition: it was
/// simulated.
std::string realtime_gantt(const realtime::TaskFile& file,
                           const realtime::RealtimeAnswers& answers);
/// The same of this flow.
std::string flow_gantt(const realtime::TaskSystem& system,
                       const realtime::SimulatedResponses& simulated, realtime::FlowId flow);

}  // namespace millrace::present
