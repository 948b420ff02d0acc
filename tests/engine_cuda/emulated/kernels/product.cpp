#include <span>

#include "kernel.h"
#include "prelude.h"

// Headers of kernels are compiled into several sources: in each, all is its own.
namespace {
#include "product.cu"
using namespace millrace::engine::cuda;

constexpr emulated::Kernel kernels[] = {
    emulated::entry<millrace_multiply>("millrace_multiply"),
};
}  // namespace

std::span<const emulated::Kernel> emulated::product_kernels() { return kernels; }
