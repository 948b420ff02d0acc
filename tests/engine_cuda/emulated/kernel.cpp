#include "kernel.h"

namespace emulated {

const Kernel* kernel_named(std::string_view name) {
  const std::span<const Kernel> sources[] = {
      convolution_kernels(), element_kernels(),  movement_kernels(), product_kernels(),
      row_kernels(),         sampling_kernels(), window_kernels()};
  for (const std::span<const Kernel> source : sources)
    for (const Kernel& kernel : source)
      if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace emulated
