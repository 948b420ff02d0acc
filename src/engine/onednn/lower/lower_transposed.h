#pragma once
// Transposed convolutions, whose bias and functions oneDNN's kernels leave to its slow loops.
#include <functional>

#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// Whether the layer takes its tail: at most one piecewise linear function, and only where windows
/// do not overlap.
bool accepts_transposed(const Builder& builder, const Group& group);
/// oneDNN's kernel for the layer without its bias, whose result lies so.
using KernelOfSums = std::function<Kernel(const Desc& result)>;
bool lower_transposed(Builder& builder, const Group& group, const KernelOfSums& kernel_of_sums);

}  // namespace millrace::engine::onednn
