#pragma once
// Convolutions with what is fused into them, on amx_convolution.h instead of oneDNN's kernels.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// Whether the layer's variant asks for it.
bool is_on_tiles(const Builder& builder, LayerId id);
/// Whether the machine and the layer allow it, in the layer's precision.
bool can_be_on_tiles(const Builder& builder, LayerId id);

/// Throws InputError where a plan asks for what cannot be.
void check_tiles(const network::Layer& layer, bool can_be);

/// As lower_convolution.
bool lower_on_tiles(Builder& builder, const Group& group);

/// Rows, each multiplied with a constant matrix, in float32.
struct TileProduct {
  TensorId source, weights, bias;  // bias: a constant by output; may be invalid
  std::size_t rows = 1;
  Desc view;  // how the weights' memory is read: outputs, channels
};
/// Whether it pays on this machine.
bool can_be_on_tiles(const TileProduct& product);
bool accepts_on_tiles(const Builder& builder, const Group& group, const TileProduct& product);
bool lower_on_tiles(Builder& builder, const Group& group, const TileProduct& product);

}  // namespace millrace::engine::onednn
