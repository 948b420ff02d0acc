#include "present/results/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "present/description.h"
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

Bytes scratchpad_of(const Program& program) {
  return program.memories.size() > 1 ? program.memories.back().size : Bytes{0};
}

/// By workload: what it does, and what it moves.
std::vector<RowField<std::size_t>> fact_fields(const Program& program) {
  const auto workload = [&](std::size_t i) -> const Workload& { return program.workloads[i]; };
  const auto fact = [&](auto part) {
    return [&program, part](std::size_t i) {
      return facts_of(program.workloads[i], program.memories.size()).*part;
    };
  };
  const auto bytes = [=](std::int64_t WorkloadFacts::*part) {
    return [of = fact(part)](std::size_t i) { return Bytes{of(i)}; };
  };
  const auto saved = [of = fact(&WorkloadFacts::kept)](std::size_t i) {
    return Value{of(i), of(i) > 0 ? to_text(Bytes{of(i)}) : ""};
  };
  const auto remark = [=](std::size_t i) {
    return workload(i).remark.empty() ? Value::absent() : Value::word(workload(i).remark);
  };
  const char* const between = program.memories.size() > 2 ? "between" : nullptr;
  return {{"name", "workload", [=](std::size_t i) { return workload(i).name; }},
          {"operation", "operation", fact(&WorkloadFacts::operation)},
          {"tile", "tile", fact(&WorkloadFacts::tile), Align::right},
          {"steps", "steps", fact(&WorkloadFacts::steps)},
          {"overlapped", "overlap", [=](std::size_t i) { return workload(i).overlapped; }},
          {"scratchpad_bytes", "scratchpad", bytes(&WorkloadFacts::scratch)},
          {"between_bytes", between, bytes(&WorkloadFacts::between)},
          {"traffic_bytes", "traffic", bytes(&WorkloadFacts::traffic)},
          {"saved_bytes", "saved", saved},
          {"macs", nullptr, fact(&WorkloadFacts::macs)},
          {"remark", nullptr, remark}};
}

/// With the model's time beside the lower bounds for what was just compiled.
Description<std::size_t> compiled_fields(const Program& program,
                                         const std::vector<LayerTiling>& tilings) {
  std::vector<RowField<std::size_t>> fields = fact_fields(program);
  const auto if_tiled = [&](auto value) {
    return [&tilings, value](std::size_t i) {
      return tilings[i].tiled ? value(tilings[i]) : Value::absent();
    };
  };
  const auto time = [=](auto seconds) {
    return if_tiled([seconds](const LayerTiling& tiling) {
      return Value{seconds(tiling) * 1e6, to_text(time_from_seconds(seconds(tiling)))};
    });
  };
  if (!tilings.empty())
    fields.insert(
        fields.end(),
        {{"model/least_traffic_bytes", "least traffic",
          if_tiled([](const LayerTiling& of) { return Value::bytes({of.bound.traffic}); })},
         {"model/time_us", "model", time([](const LayerTiling& of) { return of.cost.seconds; })},
         {"model/compute_bound_us", "compute bound",
          time([](const LayerTiling& of) { return of.bound.compute_seconds; })},
         {"model/transfer_bound_us", "transfer bound",
          time([](const LayerTiling& of) { return of.bound.transfer_seconds; })}});
  return Description<std::size_t>(std::move(fields));
}

/// With the simulated times.
Description<std::size_t> simulated_fields(const Program& program,
                                          const SimulatedProgram& simulated) {
  using One = workload::SimulatedWorkload;
  std::vector<RowField<std::size_t>> fields = fact_fields(program);
  const auto one = [&](std::size_t i) -> const One& { return simulated.workloads[i]; };
  const auto share = [=](std::int64_t One::*part) {
    return [=](std::size_t i) {
      const auto whole = static_cast<double>(std::max<std::int64_t>(1, one(i).cycles));
      const std::int64_t cycles = one(i).*part;
      return Value{cycles, fmt::format("{:.0f} %", 100.0 * static_cast<double>(cycles) / whole)};
    };
  };
  const auto time = [=, megahertz = simulated.target.megahertz](std::size_t i) {
    const Time took = cycles_time(one(i).cycles, megahertz);
    return Value{microseconds(took), to_text(took)};
  };
  fields.insert(fields.end(),
                {{"simulated/cycles", "cycles", [=](std::size_t i) { return one(i).cycles; }},
                 {"simulated/time_us", "time", time},
                 {"simulated/transfer_cycles", "transfers", share(&One::transfers)},
                 {"simulated/computing_cycles", "computing", share(&One::computing)}});
  return Description<std::size_t>(std::move(fields));
}

/// By network.
Description<std::size_t> stream_fields(const SimulatedStreams& simulated) {
  const auto network = [&](std::size_t i) -> const workload::NetworkStreams& {
    return simulated.networks[i];
  };
  const auto one = [&](std::size_t i) -> const workload::StreamCycles& {
    return simulated.together[i];
  };
  const double megahertz = simulated.target.megahertz;
  const auto time = [=](std::int64_t cycles) {
    const Time took = cycles_time(cycles, megahertz);
    return Value{microseconds(took), to_text(took)};
  };
  const auto rate = [=](std::size_t i) {
    const double frame_s = seconds(cycles_time(one(i).cycles, megahertz));
    return fmt::format("{:.4g}", static_cast<double>(network(i).streams) / frame_s);
  };
  return Description<std::size_t>({
      {"network", "network", [=](std::size_t i) { return network(i).program->network; }},
      {"streams", "streams", [=](std::size_t i) { return network(i).streams; }},
      {"scratchpad_bytes", "scratchpad",
       [=](std::size_t i) { return scratchpad_of(*network(i).program); }},
      {"traffic_bytes", "traffic", [=](std::size_t i) { return Bytes{one(i).moved}; }},
      {"shared_bytes", "shared", [=](std::size_t i) { return Bytes{one(i).shared}; }},
      {"alone_us", "alone",
       [=, &simulated](std::size_t i) { return time(simulated.alone[i].cycles); }},
      {"together_us", "together", [=](std::size_t i) { return time(one(i).cycles); }},
      {"", "frames/s", rate, Align::right},
  });
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
  return compiled_fields(program, tilings).text(numbers_of(program.workloads)) +
         remarks_text(program);
}

std::string simulated_text(const Program& program, const SimulatedProgram& simulated) {
  std::int64_t cycles = 0, macs = 0;
  for (std::size_t i = 0; i < program.workloads.size(); ++i) {
    cycles += simulated.workloads[i].cycles;
    macs += facts_of(program.workloads[i], program.memories.size()).macs;
  }
  const double megahertz = simulated.target.megahertz;
  return simulated_fields(program, simulated).text(numbers_of(program.workloads)) +
         fmt::format("{} on '{}' with '{}', at {} MHz: {} MACs in {} cycles, {}\n",
                     program.network, simulated.target.device, simulated.target.memory, megahertz,
                     count_text(static_cast<double>(macs)), cycles,
                     to_text(cycles_time(cycles, megahertz)));
}

std::string streams_text(const SimulatedStreams& simulated) {
  std::int64_t alone = 0, together = 0;
  for (std::size_t i = 0; i < simulated.networks.size(); ++i) {
    alone += simulated.alone[i].cycles;
    together = std::max(together, simulated.together[i].cycles);
  }
  const double megahertz = simulated.target.megahertz;
  return stream_fields(simulated).text(numbers_of(simulated.networks)) +
         fmt::format("{} together, {} one after the other, on '{}' at {} MHz\n",
                     to_text(cycles_time(together, megahertz)),
                     to_text(cycles_time(alone, megahertz)), simulated.target.device, megahertz);
}

std::string streams_json(const SimulatedStreams& simulated) {
  return json_document(
      "workload_streams",
      {{"device", simulated.target.device},
       {"networks", stream_fields(simulated).array(numbers_of(simulated.networks))}});
}

std::string program_json(const Program& program, const std::vector<LayerTiling>& tilings) {
  return report_json(program,
                     compiled_fields(program, tilings).array(numbers_of(program.workloads)));
}

std::string simulated_json(const Program& program, const SimulatedProgram& simulated) {
  return report_json(program,
                     simulated_fields(program, simulated).array(numbers_of(program.workloads)));
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
