#pragma once
// Chains of layers that engines may run as one kernel: a heavy layer, and what follows it.
#include <functional>
#include <string>
#include <vector>

#include "support/network_builder.h"

namespace millrace::test {

/// Makes a first result with so many channels (columns, of matrices).
struct ChainHead {
  std::string name;
  std::function<TensorId(NetworkBuilder&, std::int64_t channels)> build;
};
/// Makes the next result, of the same shape but for heavy_step().
struct ChainStep {
  std::string name;
  std::function<TensorId(NetworkBuilder&, TensorId)> build;
};

std::vector<ChainHead> chain_heads();
/// Functions, and operations with a second operand: one number, one by channel, or of the whole
/// shape; constant or computed.
std::vector<ChainStep> chain_steps();
/// A convolution or, of matrices, a product: it also reads what padding the chain left behind.
ChainStep heavy_step();

/// The head and the steps after it, with the last result as output.
network::Network chain_of(const ChainHead& head, std::int64_t channels,
                          const std::vector<const ChainStep*>& steps);

}  // namespace millrace::test
