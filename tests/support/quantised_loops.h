#pragma once
// What int8 makes of a network, computed in float32: everything that convolutions and matrix
// products read is rounded to 8 bits first.
#include <span>
#include <vector>

#include "network/calibration.h"
#include "network/network.h"

namespace millrace::test {

/// A copy whose constant weights are rounded to 8 bits with a sign, convolutions' filter by filter.
network::Network with_rounded_weights(const network::Network& network);

/// The outputs by the plain loops. `calibration` holds the ranges of what is rounded: 255 steps
/// from 0 on, or 127 on each side of it.
std::vector<network::Array> compute_rounded(const network::Network& network,
                                            const network::Calibration& calibration,
                                            std::span<const network::Array> inputs);

}  // namespace millrace::test
