#pragma once
// Programs of tiles as text and JSON.
#include <optional>
#include <string>

#include "workload/compile.h"
#include "workload/simulate.h"
#include "workload/streams.h"

namespace millrace::report {

/// A simulated program: cycles by workload.
struct SimulatedProgram {
  workload::DeviceTarget target;
  std::vector<workload::SimulatedWorkload> workloads;
};

/// A row for each workload: operation, tile, steps, memory, traffic; with the model's time beside
/// the lower bounds for what was just compiled, or with the simulated times.
std::string program_text(const workload::Program& program,
                         const std::vector<workload::LayerTiling>& tilings = {});
std::string simulated_text(const workload::Program& program, const SimulatedProgram& simulated);

/// Networks that run on one device at the same time.
struct SimulatedStreams {
  workload::DeviceTarget target;
  std::vector<workload::NetworkStreams> networks;
  std::vector<workload::StreamCycles> alone, together;  // by network
};
std::string streams_text(const SimulatedStreams& simulated);
/// Kind "workload_streams".
std::string streams_json(const SimulatedStreams& simulated);

/// Kind "workload_report".
std::string program_json(const workload::Program& program,
                         const std::vector<workload::LayerTiling>& tilings = {});
std::string simulated_json(const workload::Program& program, const SimulatedProgram& simulated);

/// The paper's Figure 5: a row for each link, a column for each step; '#' where it runs, 'U' in
/// pipe-up, 'D' in pipe-down. At most `most_steps`.
std::string step_table(const workload::Workload& workload, std::int64_t most_steps = 64);

/// program_text(), and of a single workload its step_table().
std::string shown_text(const workload::Program& program);

}  // namespace millrace::report
