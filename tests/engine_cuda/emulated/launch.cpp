#include "launch.h"

#include <cstring>
#include <deque>
#include <mutex>

#include "fiber.h"
#include "prelude.h"

emulated::Dimensions threadIdx, blockIdx, blockDim, gridDim;

namespace emulated {
namespace {

/// The block that runs. A fiber runs threads one after the other until one of them waits for the
/// others; another fiber then begins the next. So a kernel without barriers changes stacks only
/// once in a block.
struct Block {
  const Launch* launch = nullptr;
  unsigned threads = 0, begun = 0;
  bool at_barrier = false;  // where the last fiber paused; else it has nothing left to run
};
Block running;

Dimensions position_in(const Dimensions& block, unsigned index) {
  return {index % block.x, index / block.x % block.y, index / block.x / block.y};
}

void run_threads() {
  for (;;) {
    while (running.begun < running.threads) {
      threadIdx = position_in(blockDim, running.begun++);
      running.launch->kernel->run(running.launch->parameters.data());
    }
    running.at_barrier = false;
    Fiber::pause();
  }
}

/// Never destroyed: the engine may launch kernels while the program ends.
Fiber& fiber(std::size_t index) {
  static std::deque<Fiber>& fibers = *new std::deque<Fiber>;
  while (fibers.size() <= index) fibers.emplace_back(run_threads);
  return fibers[index];
}

void run_block(std::vector<Fiber*>& waiting) {
  running.begun = 0;
  waiting.clear();
  while (running.begun < running.threads) {
    Fiber& next = fiber(waiting.size());
    next.resume();
    if (running.at_barrier) waiting.push_back(&next);
  }
  while (!waiting.empty()) {
    std::size_t still = 0;
    for (Fiber* const one : waiting) {
      one->resume();
      if (running.at_barrier) waiting[still++] = one;
    }
    waiting.resize(still);
  }
}

void wait_for_block() {
  const Dimensions self = threadIdx;
  running.at_barrier = true;
  Fiber::pause();
  threadIdx = self;
}

}  // namespace

bool is_launchable(const Dimensions& grid, const Dimensions& block) {
  const auto is_within = [](unsigned size, unsigned most) { return size > 0 && size <= most; };
  return is_within(grid.x, 0x7fffffff) && is_within(grid.y, 65535) && is_within(grid.z, 65535) &&
         is_within(block.x, 1024) && is_within(block.y, 1024) && is_within(block.z, 64) &&
         block.x * block.y * block.z <= 1024;
}

std::vector<std::max_align_t> copy_of_parameters(const Kernel& kernel, const void* parameters) {
  constexpr std::size_t unit = sizeof(std::max_align_t);
  std::vector<std::max_align_t> copy((kernel.parameter_bytes + unit - 1) / unit);
  std::memcpy(copy.data(), parameters, kernel.parameter_bytes);
  return copy;
}

void run(const Launch& launch) {
  static std::mutex one_launch;
  const std::lock_guard guard(one_launch);
  running.launch = &launch;
  running.threads = launch.block.x * launch.block.y * launch.block.z;
  gridDim = launch.grid;
  blockDim = launch.block;
  std::vector<Fiber*> waiting;
  for (unsigned z = 0; z < launch.grid.z; ++z)
    for (unsigned y = 0; y < launch.grid.y; ++y)
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        blockIdx = {x, y, z};
        run_block(waiting);
      }
}

}  // namespace emulated

extern "C" void __syncthreads() { emulated::wait_for_block(); }
