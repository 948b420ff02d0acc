#include "api/tiles/simulate.h"

#include <fmt/format.h>

#include "api/tiles/tiles.h"
#include "base/error.h"
#include "workload/check/check.h"
#include "workload/program_file.h"

namespace millrace::api {
namespace {

workload::Program read_to_simulate(const std::string& file) {
  workload::Program program = workload::read_program(file);
  for (const workload::Workload& one : program.workloads)
    if (const auto found = workload::static_violations(program, one); !found.empty())
      throw InputError(file, found.front());
  return program;
}

/// The parts of the scratchpad together are not larger than a board's.
void check_parts(const std::vector<workload::Program>& programs,
                 const workload::DeviceTarget& target) {
  Bytes all;
  for (const workload::Program& program : programs)
    if (program.memories.size() > 1) all += program.memories[1].size;
  if (all <= target.target.scratchpad) return;
  throw InputError(
      "--beside",
      fmt::format("the programs' scratchpads have {} together, '{}' has {}; make each "
                  "with --parts {}",
                  to_text(all), target.memory, to_text(target.target.scratchpad), programs.size()));
}

}  // namespace

SimulatedTiles simulate_tiles(const std::string& file, const std::string& board) {
  SimulatedTiles simulated{read_to_simulate(file), {tiles_target(board), {}}};
  auto& workloads = simulated.report.workloads;
  for (const workload::Workload& one : simulated.program.workloads)
    workloads.push_back(workload::simulate(one, simulated.report.target.costs, workloads.empty()));
  return simulated;
}

SimulatedNetworks simulate_streams(const StreamsRequest& request) {
  SimulatedNetworks simulated{{}, {tiles_target(request.board), {}, {}, {}}};
  auto& [programs, report] = simulated;
  for (const std::string& file : request.files) programs.push_back(read_to_simulate(file));
  if (request.streams.size() > programs.size())
    throw InputError("--streams", fmt::format("found {} numbers for {} networks",
                                              request.streams.size(), programs.size()));
  if (!request.board.empty()) check_parts(programs, report.target);
  for (std::size_t i = 0; i < programs.size(); ++i)
    report.networks.push_back({&programs[i], i < request.streams.size() ? request.streams[i] : 1});
  for (const workload::NetworkStreams& network : report.networks)
    report.alone.push_back(
        workload::simulate_streams(std::span(&network, 1), report.target.costs).front());
  report.together = workload::simulate_streams(report.networks, report.target.costs);
  return simulated;
}

}  // namespace millrace::api
