#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "window.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_pool>("millrace_pool"),
    emulated::entry<millrace_lrn>("millrace_lrn"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::window_kernels() { return kernels; }
