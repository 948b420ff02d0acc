#pragma once
// Convolutions with what is fused into them, on direct_convolution.h, where oneDNN has its
// reference loops only.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"
#include "engine/onednn/lower/convolution_parts.h"

namespace millrace::engine::onednn {

/// Whether the layer's variant asks for it.
bool is_direct(const Builder& builder, LayerId id);
/// Whether it knows the layer's precision: float32, and on 64-bit ARM float16.
bool computes_direct(const Builder& builder, LayerId id);
/// Whether the layer allows it, in the layer's precision: not transposed, with constant weights.
bool can_be_direct(const Builder& builder, LayerId id);

/// Whether it takes the group's tail.
bool accepts_direct(const Builder& builder, const Group& group);
/// As lower_convolution.
bool lower_direct(Builder& builder, const Group& group);

/// The same for products with constant matrices.
bool accepts_direct(const Builder& builder, const Group& group, const ConstantProduct& product);
bool lower_direct(Builder& builder, const Group& group, const ConstantProduct& product);

}  // namespace millrace::engine::onednn
