#pragma once
// Whether weights find room in the memories of a board.
#include <optional>

#include "base/verdict.h"
#include "board/board.h"
#include "explore/mapping/search.h"
#include "network/network.h"
#include "plan/plan.h"

namespace millrace::explore {

/// No, with what is missing, if the weights of the layers on the devices that share a main memory
/// are larger than it. In float32; each layer counts once in a memory. Memories without a size have
/// room.
Verdict within_memories(const plan::Plan& plan, const network::Network& network,
                        const board::Board& board);

/// The largest weights first, each to the memory with the most room left, and layers without
/// weights to the layer before them; one processor works for each memory. Nothing if that fails, or
/// there are fewer than two memories.
std::optional<plan::Mapping> mapping_by_memory(const Problem& problem,
                                               const network::Network& network,
                                               const board::Board& board);

}  // namespace millrace::explore
