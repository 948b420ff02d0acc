#pragma once
// A small convolution as a program, for tests.
#include "network/network.h"
#include "workload/compile.h"

namespace millrace::workload {

/// [1,8,12,12] by 3x3 windows to [1,16,12,12].
network::Network sample_network();

/// In tiles that go on at the same time as the transfers, with 6 KiB of scratchpad.
TileTarget sample_target();

/// Outputs of the network, run layer by layer as the program says.
std::vector<network::Array> run_program(const Program& program, const network::Network& network,
                                        const std::vector<network::Array>& inputs);

/// Whether all outputs are near those of the plain loops.
void expect_equal_to_the_loops(const network::Network& network, const TileTarget& target);

}  // namespace millrace::workload
