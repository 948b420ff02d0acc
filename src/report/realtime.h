#pragma once
// What was asked of a task system, for people and for programs.
#include <string>

#include "realtime/answers.h"
#include "realtime/files/task_file.h"

namespace millrace::report {

std::string realtime_text(const realtime::TaskFile& file, const realtime::RealtimeAnswers& answers);
std::string realtime_json(const realtime::TaskFile& file, const realtime::RealtimeAnswers& answers);

/// The run in which the flow with the least slack took longest, as SVG. Precondition: it was
/// simulated.
std::string realtime_gantt(const realtime::TaskFile& file,
                           const realtime::RealtimeAnswers& answers);
/// The same of this flow.
std::string flow_gantt(const realtime::TaskSystem& system,
                       const realtime::SimulatedResponses& simulated, realtime::FlowId flow);

}  // namespace millrace::report
