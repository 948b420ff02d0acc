#pragma once
// Random networks between 8-bit integers.
#include "base/random.h"
#include "network/network.h"

namespace millrace::workload {

/// From float32 to 8 bits and back: convolutions with scales and zero points by tensor or by
/// channel, separate channels, groups, strides, pools, joins, sums and a product with a matrix.
network::Network random_byte_network(Random& random);

}  // namespace millrace::workload
