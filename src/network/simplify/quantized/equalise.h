#pragma once
// Cross-layer equalisation: channels of unlike size fit badly into the 255 steps that int8 has for
// a whole tensor. The idea is Nagel et al., "Data-Free Quantization Through Weight Equalization and
// Bias Correction", section 4.1; sizes are those of the tensors themselves, as in Xiao et al.,
// "SmoothQuant", equation 4, since weights have a scale for each filter here.
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// By name of a tensor: how large the numbers of each channel (dimension 1) are.
using ChannelSizes = std::map<std::string, std::vector<float>>;

struct Equalised {
  Network network = {};
  std::size_t channels = 0;  // how many were divided by another factor than 1
};

/// Divides channels of tensors inside the network by powers of two, and multiplies the weights
/// behind them, so that int8 loses about as little in both; weights before them are divided.
/// Between the weights stand only layers that keep channels apart and pass on positive factors,
/// such as Relu, MaxPool, Add and Concat. The outputs stay the same, bit for bit, as long as
/// nothing overflows or becomes denormal. Tensors without a size stay as they are.
Equalised equalise(Network network, const ChannelSizes& sizes);

}  // namespace millrace::network
