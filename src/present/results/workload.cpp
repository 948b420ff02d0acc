#include "present/results/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "present/text/table.h"
#include "workload/facts.h"

namespace millrace::present {
namespace {

using workload::LayerTiling;
using workload::Program;
using workload::SimulatedProgram;
using workload::SimulatedStreams;
using workload::Workload;
using workload::WorkloadFacts;

Time cycles_time(std::int64_t cycles, double megahertz) {
  return time_from_seconds(static_cast<double>(cycles) * 1e-6 / megahertz);
}

std::vector<std::string> fact_cells(const Program& program, const Workload& workload) {
  const WorkloadFacts facts = workload::facts_of(workload, program.memories.size());
  std::vector<std::string> cells{workload.name,
                                 facts.operation,
                                 facts.tile,
                                 std::to_string(facts.steps),
                                 workload.overlapped ? "yes" : "no",
                                 to_text(Bytes{facts.scratch})};
  if (program.memories.size() > 2) cells.push_back(to_text(Bytes{facts.between}));
  cells.push_back(to_text(Bytes{facts.traffic}));
  cells.push_back(facts.kept > 0 ? to_text(Bytes{facts.kept}) : "");
  return cells;
}

std::vector<Table::Column> fact_columns(const Program& program) {
  std::vector<Table::Column> columns{{"workload", Align::left},
                                     {"operation", Align::left},
                                     {"tile"},
                                     {"steps"},
                                     {"overlap"},
                                     {"scratchpad"}};
  if (program.memories.size() > 2) columns.push_back({"between"});
  columns.push_back({"traffic"});
  columns.push_back({"saved"});
  return columns;
}

/// Why some layers have no tiles, each reason once.
std::string remarks_text(const Program& program) {
  std::vector<std::string> reasons;
  std::string text;
  for (const Workload& workload : program.workloads) {
    if (workload.remark.empty() || std::ranges::find(reasons, workload.remark) != reasons.end())
      continue;
    reasons.push_back(workload.remark);
    const auto count = std::ranges::count(program.workloads, workload.remark, &Workload::remark);
    text += fmt::format("{} run{} whole, such as '{}': {}\n",
                        count == 1 ? "1 layer" : fmt::format("{} layers", count),
                        count == 1 ? "s" : "", workload.name, workload.remark);
  }
  return text;
}

nlohmann::json fact_json(const Workload& workload, std::size_t memories) {
  const WorkloadFacts facts = workload::facts_of(workload, memories);
  nlohmann::json json{{"name", workload.name},
                      {"operation", facts.operation},
                      {"tile", facts.tile},
                      {"steps", facts.steps},
                      {"overlapped", workload.overlapped},
                      {"scratchpad_bytes", facts.scratch},
                      {"between_bytes", facts.between},
                      {"traffic_bytes", facts.traffic},
                      {"saved_bytes", facts.kept},
                      {"macs", facts.macs}};
  if (!workload.remark.empty()) json["remark"] = workload.remark;
  return json;
}

Bytes scratchpad_of(const Program& program) {
  return program.memories.size() > 1 ? program.memories.back().size : Bytes{0};
}

std::string report_json(const Program& program, nlohmann::json workloads) {
  return json_document("workload_report",
                       {{"network", program.network}, {"workloads", std::move(workloads)}});
}

char mark_of(const workload::Link& link, const workload::JointState& state) {
  switch (stage_of(link.sink, state)) {
    case workload::Stage::pipe_up:
      return 'U';
    case workload::Stage::pipe_down:
      return 'D';
    default:
      return '#';
  }
}

}  // namespace

std::string program_text(const Program& program, const std::vector<LayerTiling>& tilings) {
  std::vector<Table::Column> columns = fact_columns(program);
  if (!tilings.empty())
    columns.insert(columns.end(),
                   {{"least traffic"}, {"model"}, {"compute bound"}, {"transfer bound"}});
  Table table(columns);
  for (std::size_t i = 0; i < program.workloads.size(); ++i) {
    auto cells = fact_cells(program, program.workloads[i]);
    if (!tilings.empty() && tilings[i].tiled) {
      const LayerTiling& tiling = tilings[i];
      cells.push_back(to_text(Bytes{tiling.bound.traffic}));
      for (const double seconds :
           {tiling.cost.seconds, tiling.bound.compute_seconds, tiling.bound.transfer_seconds})
        cells.push_back(to_text(time_from_seconds(seconds)));
    }
    table.add(cells);
  }
  return table.text() + remarks_text(program);
}

std::string simulated_text(const Program& program, const SimulatedProgram& simulated) {
  std::vector<Table::Column> columns = fact_columns(program);
  columns.insert(columns.end(), {{"cycles"}, {"time"}, {"transfers"}, {"computing"}});
  Table table(columns);
  std::int64_t cycles = 0, macs = 0;
  const double megahertz = simulated.target.megahertz;
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) /
                                       static_cast<double>(std::max<std::int64_t>(1, whole)));
  };
  for (std::size_t i = 0; i < program.workloads.size(); ++i) {
    const workload::SimulatedWorkload& one = simulated.workloads[i];
    auto cells = fact_cells(program, program.workloads[i]);
    for (std::string& cell : std::vector<std::string>{
             std::to_string(one.cycles), to_text(cycles_time(one.cycles, megahertz)),
             share(one.transfers, one.cycles), share(one.computing, one.cycles)})
      cells.push_back(cell);
    table.add(cells);
    cycles += one.cycles;
    macs += workload::facts_of(program.workloads[i], program.memories.size()).macs;
  }
  return table.text() + fmt::format("{} on '{}' with '{}', at {} MHz: {} MACs in {} cycles, {}\n",
                                    program.network, simulated.target.device,
                                    simulated.target.memory, megahertz,
                                    count_text(static_cast<double>(macs)), cycles,
                                    to_text(cycles_time(cycles, megahertz)));
}

std::string streams_text(const SimulatedStreams& simulated) {
  Table table({{"network", Align::left},
               {"streams"},
               {"scratchpad"},
               {"traffic"},
               {"shared"},
               {"alone"},
               {"together"},
               {"frames/s"}});
  const double megahertz = simulated.target.megahertz;
  std::int64_t alone = 0, together = 0;
  for (std::size_t i = 0; i < simulated.networks.size(); ++i) {
    const workload::NetworkStreams& network = simulated.networks[i];
    const workload::StreamCycles& one = simulated.together[i];
    const double frames =
        static_cast<double>(network.streams) / seconds(cycles_time(one.cycles, megahertz));
    table.add({network.program->network, std::to_string(network.streams),
               to_text(scratchpad_of(*network.program)), to_text(Bytes{one.moved}),
               to_text(Bytes{one.shared}),
               to_text(cycles_time(simulated.alone[i].cycles, megahertz)),
               to_text(cycles_time(one.cycles, megahertz)), fmt::format("{:.4g}", frames)});
    alone += simulated.alone[i].cycles;
    together = std::max(together, one.cycles);
  }
  return table.text() + fmt::format("{} together, {} one after the other, on '{}' at {} MHz\n",
                                    to_text(cycles_time(together, megahertz)),
                                    to_text(cycles_time(alone, megahertz)), simulated.target.device,
                                    megahertz);
}

std::string streams_json(const SimulatedStreams& simulated) {
  nlohmann::json networks = nlohmann::json::array();
  for (std::size_t i = 0; i < simulated.networks.size(); ++i) {
    const workload::StreamCycles& one = simulated.together[i];
    const double megahertz = simulated.target.megahertz;
    networks.push_back(
        {{"network", simulated.networks[i].program->network},
         {"streams", simulated.networks[i].streams},
         {"scratchpad_bytes", scratchpad_of(*simulated.networks[i].program).count},
         {"traffic_bytes", one.moved},
         {"shared_bytes", one.shared},
         {"alone_us", microseconds(cycles_time(simulated.alone[i].cycles, megahertz))},
         {"together_us", microseconds(cycles_time(one.cycles, megahertz))}});
  }
  return json_document("workload_streams",
                       {{"device", simulated.target.device}, {"networks", std::move(networks)}});
}

std::string program_json(const Program& program, const std::vector<LayerTiling>& tilings) {
  nlohmann::json workloads = nlohmann::json::array();
  for (std::size_t i = 0; i < program.workloads.size(); ++i) {
    nlohmann::json json = fact_json(program.workloads[i], program.memories.size());
    if (!tilings.empty() && tilings[i].tiled)
      json["model"] = {{"time_us", tilings[i].cost.seconds * 1e6},
                       {"compute_bound_us", tilings[i].bound.compute_seconds * 1e6},
                       {"transfer_bound_us", tilings[i].bound.transfer_seconds * 1e6},
                       {"least_traffic_bytes", tilings[i].bound.traffic}};
    workloads.push_back(json);
  }
  return report_json(program, workloads);
}

std::string simulated_json(const Program& program, const SimulatedProgram& simulated) {
  nlohmann::json workloads = nlohmann::json::array();
  for (std::size_t i = 0; i < program.workloads.size(); ++i) {
    nlohmann::json json = fact_json(program.workloads[i], program.memories.size());
    const workload::SimulatedWorkload& one = simulated.workloads[i];
    json["simulated"] = {
        {"cycles", one.cycles},
        {"time_us", microseconds(cycles_time(one.cycles, simulated.target.megahertz))},
        {"transfer_cycles", one.transfers},
        {"computing_cycles", one.computing}};
    workloads.push_back(json);
  }
  return report_json(program, workloads);
}

std::string step_table(const Workload& workload, std::int64_t most_steps) {
  const std::int64_t steps = std::min(most_steps, steps_of(workload));
  std::size_t width = 0;
  for (const workload::Link& link : workload.links) width = std::max(width, link.name.size());
  std::string text;
  for (const workload::Link& link : workload.links) {
    text += fmt::format("{:<{}}  ", link.name, width);
    workload::JointState state;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int64_t since = step - link.delay;
      const bool runs =
          since >= 0 && since % link.period == 0 && since / link.period < runs_of(link);
      text += runs ? mark_of(link, state) : '.';
      if (runs) update(link.sink, state);
    }
    text += steps < steps_of(workload) ? "...\n" : "\n";
  }
  return text;
}

std::string shown_text(const Program& program) {
  std::string text = program_text(program);
  if (program.workloads.size() == 1) text += "\n" + step_table(program.workloads.front());
  return text;
}

}  // namespace millrace::present
