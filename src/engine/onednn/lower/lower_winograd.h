#pragma once
// Convolutions with what is fused into them, on winograd.h instead of oneDNN's kernels.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// Whether the layer's variant asks for it.
bool is_winograd(const Builder& builder, LayerId id);
/// Whether the machine and the layer allow it, in the layer's precision.
bool can_be_winograd(const Builder& builder, LayerId id);

/// As lower_convolution.
bool lower_winograd(Builder& builder, const Group& group);

}  // namespace millrace::engine::onednn
