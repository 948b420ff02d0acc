#pragma once
// Networks that tasks of a graph run, each in one piece.
#include <memory>

#include "board/board.h"
#include "engine/engine.h"
#include "network/network.h"
#include "product/context.h"
#include "runtime/graph/firing.h"
#include "system/system.h"

namespace millrace::product {

/// Shared by all that may fire it: a thread that is left alone may still use it.
struct NetworkOfTask {
  network::Network network;
  std::shared_ptr<engine::Engine> engine;
  board::Processor processor;  // a core of this machine
};

/// Null: the task has none. InputError with the place if it cannot be read, or takes no batch.
std::shared_ptr<const NetworkOfTask> open_network_of(const system::GraphTask& task,
                                                     const Context& context);

/// Each firing runs it on the thread that fires it. `outputs`: those that edges carry, ascending.
/// Tokens that it makes are empty as those of its first input, where they are as many.
runtime::TaskToRun code_of(std::shared_ptr<const NetworkOfTask> node,
                           std::vector<std::size_t> outputs);

/// InputError, with the place of the task, if one of them may run where there is no core, and the
/// board is this machine.
void check_networks_of_tasks(const system::System& system, const board::Board& board);

}  // namespace millrace::product
