#include "workload/tiles/simulate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workload/check/check.h"
#include "workload/program_file.h"
#include "workload/tiles/tiles.h"

namespace millrace::workload {
namespace {

Program read_to_simulate(const std::string& file) {
  Program program = read_program(file);
  for (const Workload& one : program.workloads)
    if (const auto found = static_violations(program, one); !found.empty())
      throw InputError(file, found.front());
  return program;
}

/// The parts of each memory together are not larger than a board's: `back` memories before the
/// scratchpad.
void check_parts(const std::vector<Program>& programs,
                 const TileTarget& target, std::size_t back) {
  Bytes all;
  for (const Program& program : programs)
    if (program.memories.size() > back + 1)
      all += program.memories[program.memories.size() - 1 - back].size;
  const std::size_t between = target.between.size() - back;
  const Bytes there = back == 0 ? target.scratchpad : target.between[between].size;
  if (all <= there) return;
  const std::string what = back == 0 ? "scratchpads have" : "memories between have";
  throw InputError("⟨beside⟩",
                   fmt::format("the programs' {} {} together, the board's has {}; make each "
                               "with ⟨parts⟩ {}",
                               what, to_text(all), to_text(there), programs.size()));
}

/// Number of fast memories of the program with the most.
std::size_t fast_memories(const std::vector<Program>& programs) {
  std::size_t most = 2;
  for (const Program& program : programs) most = std::max(most, program.memories.size());
  return most - 1;
}

}  // namespace

SimulatedTiles simulate_tiles(const std::string& file, const std::string& board) {
  SimulatedTiles simulated{read_to_simulate(file), {}};
  const std::size_t memories = simulated.program.memories.size();
  simulated.report.target = tiles_target(board, std::max<std::size_t>(memories, 2) - 1);
  auto& workloads = simulated.report.workloads;
  const auto costs = costs_for(simulated.program, simulated.report.target.costs);
  for (const Workload& one : simulated.program.workloads)
    workloads.push_back(simulate(one, costs, workloads.empty()));
  return simulated;
}

SimulatedNetworks simulate_streams(const StreamsRequest& request) {
  SimulatedNetworks simulated;
  auto& [programs, report] = simulated;
  for (const std::string& file : request.files) programs.push_back(read_to_simulate(file));
  report.target = tiles_target(request.board, fast_memories(programs));
  if (request.streams.size() > programs.size())
    throw InputError("⟨streams⟩", fmt::format("found {} numbers for {} networks",
                                              request.streams.size(), programs.size()));
  for (std::size_t back = 0; !request.board.empty() && back <= report.target.target.between.size();
       ++back)
    check_parts(programs, report.target.target, back);
  for (std::size_t i = 0; i < programs.size(); ++i)
    report.networks.push_back({&programs[i], i < request.streams.size() ? request.streams[i] : 1});
  for (const NetworkStreams& network : report.networks)
    report.alone.push_back(
        simulate_streams(std::span(&network, 1), report.target.costs).front());
  report.together = simulate_streams(report.networks, report.target.costs);
  return simulated;
}

}  // namespace millrace::workload
