#pragma once
// Layers between quantised tensors.
#include "network/network.h"

namespace millrace::network {

/// Layers between DequantizeLinear and QuantizeLinear compute with the integers:
/// - A convolution of quantised weights, perhaps with Relu, becomes one QLinearConv: the same sums,
///   exact, where 8-bit integers have one scale a tensor and weights one a tensor or filter.
/// - MaxPool, where the scale stays: its maxima are those of the integers.
/// - Concat: each part is quantised as the result is, or has its steps already.
Network join_quantized_layers(Network network);

}  // namespace millrace::network
