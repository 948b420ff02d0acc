#pragma once
// Convolutions and products with what is fused into them, by our own kernels of integers instead of
// oneDNN's.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/lower/convolution_parts.h"

namespace millrace::engine::onednn {

// On integer_convolution.h.

/// Whether the layer's variant asks for it.
bool is_in_integers(const Builder& builder, LayerId id);
/// Whether the machine and the layer allow it, in the layer's precision.
bool can_be_in_integers(const Builder& builder, LayerId id);

/// As lower_convolution.
bool lower_in_integers(Builder& builder, const Group& group);

// On quad_convolution.h: where oneDNN has no exact kernels of 8 bits, and beside those that it has
// for AVX-VNNI.

/// Whether the layer's variant asks for it, or for int8 where oneDNN has nothing for that.
bool is_in_quads(const Builder& builder, LayerId id);
/// Whether the machine and the layer allow it: a convolution that is not transposed, in int8, with
/// constant weights.
bool can_be_in_quads(const Builder& builder, LayerId id);

/// Whether it takes the group's tail.
bool accepts_quads(const Builder& builder, const Group& group);
/// As lower_convolution.
bool lower_quads(Builder& builder, const Group& group);

/// The same for products with constant matrices.
bool accepts_quads(const Builder& builder, const Group& group, const ConstantProduct& product);
bool lower_quads(Builder& builder, const Group& group, const ConstantProduct& product);

}  // namespace millrace::engine::onednn
