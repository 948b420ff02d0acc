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
/// same all over a channel. float32 only, of numbers that are finite and not so large that adding
/// them rounds.
std::optional<Affine> affine_of(const Network& network, const Layer& layer);

/// `second` after `first`; nothing if float32 would overflow or round otherwise between them.
std::optional<Affine> composed(const Affine& first, const Affine& second);

/// Whether the layer is a Conv, ConvTranspose or Gemm whose weights, and bias if it has one, are
/// constants with a value for each of so many channels.
bool can_absorb(const Network& network, const Layer& layer, std::size_t channels);

/// Multiplies its weights by the scale and adds the shift to its bias. Precondition: can_absorb.
void absorb(Network& network, Layer& layer, const Affine& affine);

}  // namespace millrace::network
