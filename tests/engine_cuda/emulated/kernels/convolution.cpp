#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "convolution.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_convolve>("millrace_convolve"),
    emulated::entry<millrace_convolve_tiled>("millrace_convolve_tiled"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::convolution_kernels() { return kernels; }
