#pragma once
// What tests set in the environment. It is read at each question, so that a test can change it.
#include <cstddef>

namespace emulated {

/// MILLRACE_TEST_CUDA_DEVICES, or else 1.
int device_count();
/// MILLRACE_TEST_CUDA_MEMORY in bytes, or else 1 GiB.
std::size_t device_memory();
/// MILLRACE_TEST_CUDA_COPY_ENGINES, or else 2.
int copy_engines();
/// MILLRACE_TEST_CUDA_FAIL_AFTER: of the graph launches since it was set, this one fails, and all
/// after it. 0: none fails.
std::size_t failing_launch();

}  // namespace emulated
