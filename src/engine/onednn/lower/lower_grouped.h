#pragma once
// Convolutions in groups of few channels, for which oneDNN copies windows and multiplies matrices
// that are too small for that.
#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// The name of the kernel.
inline constexpr const char* small_groups = "groups";

/// In float32, on images, with constant weights. Not if the plan asks for an algorithm of oneDNN.
bool is_in_small_groups(const Builder& builder, LayerId id);

/// At most one piecewise linear function follows. Others, and sums, are steps of their own then.
bool accepts_small_groups(const Builder& builder, const Group& group);

/// Channels are outside then.
void lower_small_groups(Builder& builder, const Group& group);

}  // namespace millrace::engine::onednn
