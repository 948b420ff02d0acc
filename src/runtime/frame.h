#pragma once
// One frame's arrays against what a network expects.
#include <span>

#include "network/network.h"

namespace millrace::runtime {

/// InputError naming the input unless there is one array for each input of the network, with its
/// type, shape and memory.
void check_inputs(const network::Network& network, std::span<const network::Array> inputs);

}  // namespace millrace::runtime
