#pragma once
// Runs kernels: one launch at a time, its blocks and their threads one after the other.
#include <cstddef>
#include <vector>

#include "dimensions.h"
#include "kernel.h"

namespace emulated {

struct Launch {
  const Kernel* kernel = nullptr;
  Dimensions grid, block;
  std::vector<std::max_align_t> parameters;  // a copy of their bytes
};

/// Whether a GPU would take so many blocks and threads.
bool is_launchable(const Dimensions& grid, const Dimensions& block);
std::vector<std::max_align_t> copy_of_parameters(const Kernel& kernel, const void* parameters);

/// Until all threads have ended. Any thread of the host.
void run(const Launch& launch);

}  // namespace emulated
