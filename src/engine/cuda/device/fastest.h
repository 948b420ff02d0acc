#pragma once
// Which of several ways to do the same is the fastest, measured where it will run.
#include <functional>
#include <span>

#include "engine/cuda/device/gpu.h"

namespace millrace::engine::cuda {

/// Starts the work on a stream.
using Way = std::function<void(Stream)>;

/// The number of the fastest, by its times with and without what it reads in the GPU's cache. A way
/// that fails is left out; EngineError of the first one if all fail. The context is the calling
/// thread's. Others wait meanwhile.
std::size_t fastest_of(Gpu& gpu, std::span<const Way> ways);

}  // namespace millrace::engine::cuda
