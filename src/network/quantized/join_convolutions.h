#pragma once
// Convolutions between quantised tensors.
#include "network/network.h"

namespace millrace::network {

/// DequantizeLinear, a convolution of quantised weights, perhaps Relu, and QuantizeLinear become
/// one QLinearConv: the same sums, exact, where 8-bit integers have one scale a tensor and weights
/// one a tensor or filter.
/// The same for MaxPool, where the scale stays: its maxima are those of the integers.
Network join_quantized_convolutions(Network network);

}  // namespace millrace::network
