#pragma once
// The sources of the kernels, as they are compiled for a GPU when it is first used.
#include <span>

#include "engine/cuda/library/compiler.h"

namespace millrace::engine::cuda {

/// "elements.cu" and the others; kernels are called "millrace_...".
std::span<const SourceText> kernel_texts();
/// What these include.
std::span<const SourceText> kernel_headers();

}  // namespace millrace::engine::cuda
