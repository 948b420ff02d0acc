#pragma once
// Transposed convolutions, whose bias and functions oneDNN's kernels leave to its slow loops.
#include <functional>

#include "engine/fusion.h"
#include "engine/onednn/builder.h"

namespace millrace::engine::onednn {

/// oneDNN's kernel for the layer without its bias, whose result lies so.
using KernelOfSums = std::function<Kernel(const Desc& result)>;
/// Whether the layer takes its tail: at most one piecewise linear function, and only where windows
/// do not overlap, or where oneDNN has no kernel for it.
bool accepts_transposed(const Builder& builder, const Group& group,
                        const KernelOfSums& kernel_of_sums);
bool lower_transposed(Builder& builder, const Group& group, const KernelOfSums& kernel_of_sums);

}  // namespace millrace::engine::onednn
