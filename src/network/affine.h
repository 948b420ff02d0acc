#pragma once
// y = scale * x + shift, channel by channel: what BatchNormalization does in inference.
#include <optional>
#include <vector>

#include "network/network.h"

namespace millrace::network {

/// One entry per channel, which is dimension 1 of `data`.
struct Affine {
  TensorId data;
  std::vector<double> scale, shift;
};

/// The layer as such a map: BatchNormalization, or Add, Sub, Mul, Div by a constant that is the
/// same all over a channel. float32 only.
std::optional<Affine> affine_of(const Network& network, const Layer& layer);

/// `second` after `first`.
Affine compose(const Affine& first, const Affine& second);

/// Multiplies the weights of a Conv, ConvTranspose or Gemm by the scale and adds the shift to its
/// bias. False, and nothing done, if its weights are not constant or it is another layer.
bool absorb(Network& network, Layer& layer, const Affine& affine);

}  // namespace millrace::network
