#pragma once
// What a task system can do: discrete-event runs over phases, jitters and execution times that its
// models allow. No bound may be below what a run shows.
#include <cstdint>
#include <vector>

#include "base/trace.h"
#include "realtime/task_system.h"

namespace millrace::realtime {

/// One choice among what the models allow.
struct Scenario {
  enum class Lateness { none, all, first_late, any };  // first_late: up to the critical event
  enum class Execution { worst, best, first_worst, any };
  struct FlowChoice {
    Time phase{};                     // when event 0 is due
    std::int64_t critical_event = 0;  // the last late one; the next come as densely as they may
    Lateness lateness = Lateness::first_late;
    bool operator==(const FlowChoice&) const = default;
  };
  std::vector<FlowChoice> flows;      // by FlowId
  std::vector<Execution> executions;  // by TaskId
  std::vector<Time> table_phases;     // by ResourceId: where in its cycle a table begins
  std::uint64_t seed = 1;             // of what is left to chance
  Time span{};                        // events are due from the phase on, so long
  bool operator==(const Scenario&) const = default;
};

struct ScenarioResult {
  std::vector<Time> tasks;        // by TaskId: the largest response
  std::vector<Time> flows;        // by FlowId: the largest response
  std::vector<Time> completions;  // by FlowId: the largest, since the event was due
};

/// All critical events come at once; every task takes its worst time.
Scenario critical_scenario(const TaskSystem& system, std::uint64_t seed = 1);

/// Runs until all that was activated is done, for two million steps, or for the work of all runs of
/// simulate(). `trace`, if given, has a
/// plan for each flow and a stage for each task. InputError if the system is overloaded, so that
/// the run would not end.
ScenarioResult run_scenario(const TaskSystem& system, const Scenario& scenario,
                            Trace* trace = nullptr);

struct SimulationOptions {
  std::uint64_t seed = 1;
  int runs = 200;  // in all; a part of them changes the worst scenario of a flow a little
};

/// If the jobs of a system pile up, only as many of the runs are made as some seconds allow.
struct SimulatedResponses {
  int runs = 0;  // that were made
  ScenarioResult largest;
  std::vector<Scenario> worst;  // by FlowId: where its largest response was seen
};

SimulatedResponses simulate(const TaskSystem& system, const SimulationOptions& options = {});

}  // namespace millrace::realtime
