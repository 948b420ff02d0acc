#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "sampling.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_resize>("millrace_resize"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::sampling_kernels() { return kernels; }
