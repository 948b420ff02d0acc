#pragma once
// Where everything runs: networks by one of their plans, tasks of graphs each by a processor.
// Section 5.3.2 of J. Kim's thesis (Seoul, 2023).
#include <cstdint>
#include <string>
#include <vector>

#include "explore/system/combination.h"
#include "system/task_graph.h"

namespace millrace::explore {

/// A processor that a task may run on.
struct TaskPlace {
  std::size_t processor = 0;  // of Board::processors
  std::size_t kind = 0;       // of the task's GraphTask::on; equal ones have one
  Time worst{}, average{}, best{};
  bool operator==(const TaskPlace&) const = default;
};

/// A task of a group's graph, with all its firings.
struct TaskChoice {
  system::GroupId group;
  std::size_t task = 0;
  std::int64_t firings = 1;  // in an iteration
  std::vector<TaskPlace> places;
};

struct MappingProblem {
  const system::System& system;
  const board::Board& board;
  std::vector<std::vector<GroupPlan>> plans;        // by GroupId; none: it has no network
  std::vector<std::vector<system::GraphJob>> jobs;  // by GroupId; none: it has no graph
  std::vector<TaskChoice> tasks;
  std::vector<std::int64_t> priorities;  // by GroupId
  realtime::AnalysisOptions analysis = {};
};

struct Mapping {
  Combination plans;               // by GroupId; 0 without a network
  Placement stages;                // by GroupId: processors of its plan's tasks
  std::vector<std::size_t> tasks;  // by MappingProblem::tasks: one of its places
  bool operator==(const Mapping&) const = default;
};

/// At the highest rates and clocks; plans of networks are moved in. InputError with the place if a
/// task names a processor that the board lacks.
MappingProblem mapping_problem(const system::System& system, const board::Board& board,
                               std::vector<std::vector<GroupPlan>> plans);

/// How a group runs: the tasks of its graph, with the chosen plan's in place of the network.
deployment::Assignment grafted(const MappingProblem& problem, const Mapping& mapping,
                               system::GroupId group);

/// Section 5.4.2.1: of equal processors, the stages get one after the other, the longest first.
Placement place_networks(const MappingProblem& problem, const Combination& plans);

/// Algorithm 7: tasks in the decreasing order of their longest times, each where its kind of
/// processor has the smallest maximum of utilisations then. `mapping`: its networks are placed.
void map_tasks(const MappingProblem& problem, Mapping& mapping);

/// Each network has its fastest plan, and each task is where it is fastest.
Mapping fastest_mapping(const MappingProblem& problem);

/// Each group has one processor for all that it does, as far as its network's plans and its tasks
/// can run there. Those without a network come last, each where there is the least to do.
Mapping mapping_by_groups(const MappingProblem& problem);

/// By processor: the share of its time that all groups together need at worst.
std::vector<double> utilisations_of(const MappingProblem& problem, const Mapping& mapping,
                                    const std::vector<system::GroupId>& groups);

}  // namespace millrace::explore
