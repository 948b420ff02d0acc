#pragma once
// Random networks of all kinds of layers, to compare engines with the plain loops.
#include "base/random.h"
#include "network/network.h"

namespace millrace::test {

/// Up to `max_layers` layers (at least 1) over tensors of 2 to 5 dimensions, many of size 1:
/// products, pools, normalisations, functions, operations with broadcasting, and what moves
/// elements. Values stay within about +-100. Functions that jump or have no bounded slope do not
/// occur, so that rounding stays small. Tensors may have several readers, also outside.
network::Network varied_network(Random& random, std::size_t max_layers);

}  // namespace millrace::test
