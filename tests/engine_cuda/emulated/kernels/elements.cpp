#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "elements.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_elements>("millrace_elements"),
    emulated::entry<millrace_cast>("millrace_cast"),
    emulated::entry<millrace_compare>("millrace_compare"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::element_kernels() { return kernels; }
