#pragma once
// Cross-layer equalisation: channels of unlike size fit badly into the 255 steps that int8 has for
// a whole tensor. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias
// Correction", section 4.1.
#include <cstddef>

#include "network/network.h"

namespace millrace::network {

struct Equalised {
  Network network = {};
  std::size_t channels = 0;  // how many were multiplied by another factor than 1
};

/// Multiplies channels of tensors inside the network by powers of two, and the weights before and
/// behind them by the inverse, so that both are about as large. Between them stand only layers that
/// keep channels apart and pass on positive factors, such as Relu, MaxPool, Add and Concat. The
/// outputs stay the same, bit for bit, as long as nothing overflows or becomes denormal.
Equalised equalise(Network network);

}  // namespace millrace::network
