#pragma once
// Programs of tiles as text and JSON.
#include <optional>
#include <string>

#include "workload/compile.h"
#include "workload/simulate.h"
#include "workload/streams.h"

namespace millrace::present {

/// A row for each workload: operation, tile, steps, memory, traffic; with the model's time beside
/// the lower bounds for what was just compiled, or with the simulated times.
std::string program_text(const workload::Program& program,
                         const std::vector<workload::LayerTiling>& tilings = {});
std::string simulated_text(const workload::Program& program,
                           const workload::SimulatedProgram& simulated);

std::string streams_text(const workload::SimulatedStreams& simulated);
/// Kind "workload_streams".
std::string streams_json(const workload::SimulatedStreams& simulated);

/// Kind "workload_report".
std::string program_json(const workload::Program& program,
                         const std::vector<workload::LayerTiling>& tilings = {});
std::string simulated_json(const workload::Program& program,
                           const workload::SimulatedProgram& simulated);

/// The paper's Figure 5: a row for each link, a column for each step; '#' where it runs, 'U' in
/// pipe-up, 'D' in pipe-down. At most `most_steps`.
std::string step_table(const workload::Workload& workload, std::int64_t most_steps = 64);

/// program_text(), and of a single workload its step_table().
std::string shown_text(const workload::Program& program);

}  // namespace millrace::present
