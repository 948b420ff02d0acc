#pragma once
// Firings of a graph's tasks one by one, on inputs as they come: for their times.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "network/tensor.h"
#include "runtime/controller/group_to_run.h"
#include "runtime/waiting/watchdog.h"
#include "system/task_graph.h"

namespace millrace::runtime {

/// One frame through the network: fills its inputs, sees its outputs. None: the group has none.
using RunNetwork = std::function<void(const Session::Fill&, const Session::Use&)>;

/// Runs an iteration when it is made, in one thread, and keeps what each firing read. The tasks'
/// functions have states of their own here, and are told that it is a rehearsal.
class GraphRehearsal {
 public:
  /// Throws what run_watched() throws, and what functions throw.
  GraphRehearsal(const system::TaskGraph& graph, const GroupToRun& group,
                 const RunNetwork& run_network, const Watchdog& watchdog);

  /// Whether the task has a function.
  bool can_fire(std::size_t task) const { return static_cast<bool>(tasks_->at(task).fire); }
  /// "group 'g': task 'a'".
  const std::string& name_of(std::size_t task) const { return tasks_->at(task).name; }
  /// Fires the task again, on what it read in the iteration; how long that took. A task may fire
  /// beside others. It touches nothing but what it holds, so that its thread may be left alone.
  std::function<Time()> firing_of(std::size_t task) const;

 private:
  using Memories = std::vector<network::Buffer>;
  struct RehearsedTask {
    std::string name;
    Fire fire;
    std::vector<Memories> inputs;      // by firing of the iteration
    std::vector<std::size_t> outputs;  // which ones any edge carries
    Memories made;                     // by `outputs`
    std::int64_t number = 0;
  };
  struct Iteration;

  static void fire_once(RehearsedTask& task, const std::atomic<bool>* stopping);

  std::shared_ptr<std::vector<RehearsedTask>> tasks_;  // with threads that fire them
};

}  // namespace millrace::runtime
