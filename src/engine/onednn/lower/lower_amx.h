#pragma once
// Convolutions with what is fused into them, on amx_convolution.h instead of oneDNN's kernels.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/lower/convolution_parts.h"

namespace millrace::engine::onednn {

/// Whether the layer's variant asks for it.
bool is_on_tiles(const Builder& builder, LayerId id);
/// Whether the machine and the layer allow it, in the layer's precision.
bool can_be_on_tiles(const Builder& builder, LayerId id);

/// Throws InputError where a plan asks for what cannot be.
void check_tiles(const network::Layer& layer, bool can_be);

/// As lower_convolution.
bool lower_on_tiles(Builder& builder, const Group& group);

/// The same for products. Whether it pays on this machine.
bool can_be_on_tiles(const ConstantProduct& product);
bool accepts_on_tiles(const Builder& builder, const Group& group, const ConstantProduct& product);
bool lower_on_tiles(Builder& builder, const Group& group, const ConstantProduct& product);

}  // namespace millrace::engine::onednn
