#pragma once
// Which of several ways to do the same is the fastest, measured where it will run.
#include <functional>
#include <span>

#include "engine/cuda/device/gpu.h"

namespace millrace::engine::cuda {

/// Starts the work on a stream.
using Way = std::function<void(Stream)>;

struct Fastest {
  std::size_t number = 0;
  bool all_ran = true;  // else some failed, and another time they may not
};
/// By the times with and without what a way reads in the GPU's cache. EngineError of the first way
/// if all fail. The calling thread has the GPU's context and holds its turns().
Fastest fastest_of(Gpu& gpu, std::span<const Way> ways);

}  // namespace millrace::engine::cuda
