#include "product/deployment/task_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "application/loaded/crops_at_work.h"
#include "product/open_model.h"
#include "product/setup.h"
#include "runtime/sequential.h"
#include "system/task_times.h"

namespace millrace::product {
namespace {

/// What one task keeps: the prepared network.
class NetworkFiring {
 public:
  NetworkFiring(std::shared_ptr<const NetworkOfTask> node, std::vector<std::size_t> outputs)
      : node_(std::move(node)),
        outputs_(std::move(outputs)),
        whole_(std::make_shared<runtime::Sequential>(node_->network, *node_->engine,
                                                     node_->processor,
                                                     runtime::SequentialOptions{.pin = false})) {}

  void operator()(const runtime::Firing& firing) {
    const network::Network& network = node_->network;
    std::vector<network::Array> inputs;
    for (std::size_t i = 0; i < network.inputs.size(); ++i) {
      const network::Tensor& tensor = network[network.inputs[i]];
      inputs.push_back(network::make_array(tensor.type, tensor.shape, firing.inputs[i]));
    }
    const std::vector<network::Array> results = whole_->run(inputs);
    for (std::size_t o = 0; o < outputs_.size(); ++o)
      std::ranges::copy(results[outputs_[o]].bytes(), firing.outputs[o].data());
    if (firing.filled_inputs.empty()) return;
    const std::span<const std::uint8_t> read = firing.filled_inputs.front();
    for (const std::span<std::uint8_t> made : firing.filled_outputs)
      if (made.size() == read.size()) std::ranges::copy(read, made.begin());
  }

 private:
  std::shared_ptr<const NetworkOfTask> node_;
  std::vector<std::size_t> outputs_;
  std::shared_ptr<runtime::Sequential> whole_;  // of the copies of one function
};

void check_cores_of(const system::GraphTask& task, const board::Board& board) {
  for (const std::size_t p : system::processors_of(task, board))
    if (board.processors[p].kind != board::ProcessorKind::cpu)
      throw InputError(task.place,
                       fmt::format("task '{}' runs a network, which a task does on cores only, and "
                                   "may run on '{}'; leave that out of 'on', or make it the "
                                   "group's 'model'",
                                   task.name, board.processors[p].name));
}

}  // namespace

std::shared_ptr<const NetworkOfTask> open_network_of(const system::GraphTask& task,
                                                     const Context& context) {
  if (!task.network) return nullptr;
  Setup setup;
  setup.context = context;
  setup.processors = {board::this_machine().processors.front().name};
  auto result = std::make_shared<NetworkOfTask>();
  result->network = application::with_batch_of(open_model(task.network->model, context),
                                               task.network->batch, task.network->place);
  result->engine = make_engine(setup);
  result->processor = board::this_machine().processors.front();
  return result;
}

runtime::TaskToRun code_of(std::shared_ptr<const NetworkOfTask> node,
                           std::vector<std::size_t> outputs) {
  runtime::TaskToRun result;
  result.make = [node = std::move(node), outputs = std::move(outputs)]() -> runtime::Fire {
    return NetworkFiring(node, outputs);
  };
  result.skips_empty = true;
  return result;
}

void check_networks_of_tasks(const system::System& system, const board::Board& board) {
  if (!system.board.empty()) return;
  for (const system::Group& group : system.groups)
    for (const system::GraphTask& task : group.graph.tasks)
      if (task.network) check_cores_of(task, board);
}

}  // namespace millrace::product
