#pragma once
// How long the tasks of graphs take on each processor that they may run on, before anything is
// decided.
#include <vector>

#include "board/board.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/controller/timed_pieces.h"
#include "runtime/graph/graph_rehearsal.h"
#include "system/task_graph.h"

namespace millrace::runtime {

struct GraphToTime {
  const system::TaskGraph& graph;                    // borrowed
  GroupToRun group;                                  // its tasks and their tokens
  RunNetwork run_network;                            // none: the group has no network
  std::vector<std::vector<std::size_t>> processors;  // by task: those of the board
};

/// A task on one of its processors.
struct TaskSamples {
  std::size_t graph = 0, task = 0, processor = 0;
  std::vector<Time> samples;
};

/// Times of each task that has a function: at least so many samples on each of its processors, by
/// measure_pieces(). A task is at one place at a time, so that its function has one state. Throws
/// what functions throw.
std::vector<TaskSamples> measure_graphs(const std::vector<GraphToTime>& graphs,
                                        const board::Board& board, const TaskTimesOptions& options);

}  // namespace millrace::runtime
