#pragma once
// The functions of a group's tasks, and what its edges carry.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "application/tasks/task_library.h"
#include "network/network.h"
#include "product/context.h"
#include "product/deployment/task_networks.h"
#include "runtime/graph/firing.h"
#include "system/system.h"

namespace millrace::product {

/// Where functions are looked for, beside the libraries that the tasks name.
struct TaskSources {
  std::vector<std::string> libraries = {};  // those given with --plugin
  application::TaskTable linked = {};       // in this program; they come first
  bool may_lack = false;  // a function that is in a source file alone is none
};

/// By task and by edge of the group's graph.
struct GroupCode {
  std::vector<application::LoadedTask> tasks;  // null: the task has no function
  std::vector<std::shared_ptr<const NetworkOfTask>> networks;  // null: the task runs none
  std::vector<std::int64_t> token_bytes;
};

/// `network`: null if the group has none. InputError, with the place, if a function is not found,
/// takes another number of inputs or outputs than there are edges, or tokens of another type or
/// shape than the edge, its other end or the network's tensor; or if nothing says how large a token
/// is.
GroupCode open_code(const system::Group& group, const network::Network* network,
                    const TaskSources& sources, const Context& context = {});

/// For the group's runner.
std::vector<runtime::TaskToRun> tasks_to_run(const system::TaskGraph& graph, const GroupCode& code);

}  // namespace millrace::product
