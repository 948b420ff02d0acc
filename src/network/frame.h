#pragma once
// One frame's arrays against what a network expects.
#include <span>

#include "network/network.h"

namespace millrace::network {

/// InputError naming the input unless there is one array for each input of the network, with its
/// type, shape and memory.
void check_frame(const Network& network, std::span<const Array> inputs);

}  // namespace millrace::network
