#include "analysis/proof.h"

#include <fmt/format.h>

#include <numeric>

#include "analysis/alone.h"
#include "plan/build.h"
#include "plan/capacities.h"
#include "schedule/graph.h"

namespace millrace::analysis {
namespace {

std::string actor_text(const Proof& proof, const dataflow::CycleStep& step) {
  const auto& actors = proof.schedule.actors;
  const std::size_t actor = step.actor.index;
  if (actor < actors.size())
    return name_of(proof.schedule, {actor, step.phase % actors[actor].phases.size()});
  return proof.graph[step.actor].name;
}

/// The graph has two channels for each of the schedule's: the tensor's, and that of its space.
std::string channel_text(const schedule::Schedule& schedule, const network::Network& network,
                         const dataflow::CycleStep& step) {
  if (!step.channel.valid()) return "";
  const schedule::Channel& channel = schedule.channels[step.channel.index / 2];
  const std::string& tensor = network[channel.tensor].name;
  if (step.channel.index % 2 == 0)
    return fmt::format("gives '{}' to {}", tensor, name_of(schedule, channel.to));
  return fmt::format("frees space of '{}' for {}", tensor, name_of(schedule, channel.from));
}

/// From iterations to frames, and the critical cycle in words.
void add_pace(Proof& proof, const network::Network& network) {
  dataflow::Throughput& pace = *proof.throughput;
  const auto common = std::gcd(pace.span.count(), proof.frames);
  pace.span /= common;
  pace.iterations *= proof.frames / common;
  for (const dataflow::CycleStep& step : pace.critical_cycle)
    proof.critical.push_back({actor_text(proof, step), proof.graph[step.actor].times[step.phase],
                              channel_text(proof.schedule, network, step)});
}

}  // namespace

std::string name_of(const schedule::Schedule& schedule, const schedule::End& end) {
  if (end.is_outside()) return "outside";
  return fmt::format("{}, phase {}", schedule.actors[end.actor].name, end.phase);
}

Proof prove(const plan::Plan& plan, const network::Network& network,
            const plan::PhaseTimes& phase_times) {
  Proof proof;
  proof.schedule = schedule::compile(plan);
  proof.graph = schedule::csdf_graph(proof.schedule, network, {.phase_times = phase_times});
  proof.frames = plan::round_of(plan);
  proof.cycles = dataflow::repetition_vector(proof.graph);
  proof.slots = plan::slot_bytes(plan, network);
  if (phase_times.empty()) return proof;
  proof.throughput = dataflow::throughput(proof.graph);
  if (proof.throughput) add_pace(proof, network);
  proof.latency = latency_alone(plan, phase_times);
  proof.smallest = smallest_slots(plan, network, phase_times);
  return proof;
}

}  // namespace millrace::analysis
