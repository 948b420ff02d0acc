#pragma once
// Firings of a graph's tasks one by one, on inputs as they come: for their times.
#include <functional>
#include <memory>
#include <vector>

#include "base/units.h"
#include "network/tensor.h"
#include "runtime/controller/group_to_run.h"
#include "system/task_graph.h"

namespace millrace::runtime {

/// One frame through the network: fills its inputs, sees its outputs. None: the group has none.
using RunNetwork = std::function<void(const Session::Fill&, const Session::Use&)>;

/// Runs an iteration when it is made, in one thread, and keeps what each firing read. The tasks'
/// functions have states of their own here, and are told that it is a rehearsal.
class GraphRehearsal {
 public:
  GraphRehearsal(const system::TaskGraph& graph, const GroupToRun& group,
                 const RunNetwork& run_network);

  /// Whether the task has a function.
  bool can_fire(std::size_t task) const { return static_cast<bool>(tasks_[task].fire); }
  /// The task's next firing, on what it read in the iteration; how long it took. A task may fire
  /// beside others.
  Time fire(std::size_t task);

 private:
  using Memories = std::vector<network::Buffer>;
  struct RehearsedTask {
    Fire fire;
    std::vector<Memories> inputs;  // by firing of the iteration
    Memories outputs;
    std::int64_t number = 0;
  };
  struct Queues;

  void run_iteration(const RunNetwork& run_network);
  void fire_network(Queues& queues, const RunNetwork& run_network) const;
  static void fire_once(RehearsedTask& task);

  const system::TaskGraph& graph_;
  std::vector<std::int64_t> token_bytes_;  // by edge
  std::vector<RehearsedTask> tasks_;
};

}  // namespace millrace::runtime
