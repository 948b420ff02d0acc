#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "movement.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_move>("millrace_move"),
    emulated::entry<millrace_concat>("millrace_concat"),
    emulated::entry<millrace_gather>("millrace_gather"),
    emulated::entry<millrace_select>("millrace_select"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::movement_kernels() { return kernels; }
