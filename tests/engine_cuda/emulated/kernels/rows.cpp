#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "rows.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_reduce>("millrace_reduce"),
    emulated::entry<millrace_reduce_few>("millrace_reduce_few"),
    emulated::entry<millrace_softmax>("millrace_softmax"),
    emulated::entry<millrace_normalize>("millrace_normalize"),
    emulated::entry<millrace_arg>("millrace_arg"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::row_kernels() { return kernels; }
