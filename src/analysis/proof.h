#pragma once
// What is certain of a plan before it runs, from its own dataflow graph.
#include <optional>
#include <string>
#include <vector>

#include "analysis/capacities.h"
#include "dataflow/analysis.h"
#include "plan/evidence.h"
#include "schedule/schedule.h"

namespace millrace::analysis {

/// A phase on the critical cycle, and what its end lets begin.
struct CriticalPhase {
  std::string name;  // "stage0, phase 1", counted from 0 as in the file; "input"; "output"
  Time time{};
  std::string then;  // "gives 't3' to stage1, phase 0", "frees space of 't3' for ...", or empty:
                     // the next phase of the same stage
};

/// With times it says how fast, without only that it runs.
struct Proof {
  schedule::Schedule schedule;
  dataflow::Graph graph;                           // consistent and live: check() has seen to it
  std::int64_t frames = 1;                         // per iteration: the plan's largest batch
  std::vector<std::int64_t> cycles;                // of each actor per iteration
  std::optional<dataflow::Throughput> throughput;  // of frames; none: times are unknown
  std::vector<CriticalPhase> critical;
  std::optional<Time> latency;         // of a frame by itself
  std::optional<SlotSizing> smallest;  // for the same throughput
  Bytes slots;                         // of all tensors
};

/// Each phase takes its time, by stage, replica and phase; empty: unknown. Precondition: the plan
/// has passed check().
Proof prove(const plan::Plan& plan, const network::Network& network,
            const plan::PhaseTimes& phase_times);

/// "stage0, phase 1", or "outside".
std::string name_of(const schedule::Schedule& schedule, const schedule::End& end);

}  // namespace millrace::analysis
