#pragma once
// Networks that differ only in the order of their tensors.
#include "network/network.h"

namespace millrace::test {

/// The same network with its tensors in the order in which the layers name them.
network::Network renumbered(network::Network network);

}  // namespace millrace::test
