#pragma once
// Whether weights find room in the memories of a board.
#include <optional>

#include "base/operation/context.h"
#include "base/verdict.h"
#include "board/board.h"
#include "explore/mapping/search.h"
#include "network/network.h"
#include "network/simplify/divide.h"
#include "plan/plan.h"

namespace millrace::explore {

/// No, with what is missing, if the weights of the layers on the devices that share a main memory
/// are larger than it. In float32; each layer counts once in a memory. Memories without a size have
/// room. Where the system tells the size, a quarter of it is for programs and tensors.
Verdict within_memories(const plan::Plan& plan, const network::Network& network,
                        const board::Board& board);

/// Whether the weights take more than half of the smallest memory: then a board holds one plan, or
/// one layer, at a time while it is measured.
bool is_large_for(const network::Network& network, const board::Board& board);

/// One processor works for each memory, which has a quarter of it for other things if that can be.
/// Layer after layer as long as there is room, then in the next memory; else the largest weights
/// first, each to the memory with the most room left. Layers without weights are where what they
/// read last is made. Nothing if that fails, or there are fewer than two memories.
std::optional<plan::Mapping> mapping_by_memory(const Problem& problem,
                                               const network::Network& network,
                                               const board::Board& board);

/// Into how many parts which layers must be divided, so that there is a mapping by memory. Empty:
/// none need be, or that does not help.
network::Division division_for(const network::Network& network, const board::Board& board);

/// Before anything is measured: divides the network so, and says it. InputError, with what is
/// missing, if the system tells that all memories together have no room for the weights.
network::Division fit_to_memories(network::Network& network, const board::Board& board,
                                  const Context& context);

}  // namespace millrace::explore
