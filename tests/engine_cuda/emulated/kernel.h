#pragma once
// A kernel that was compiled for the host.
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace emulated {

struct Kernel {
  const char* name;
  std::size_t parameter_bytes;
  /// One thread of it; the parameters are one struct.
  void (*run)(const void* parameters);
};

template <class Work>
constexpr std::size_t size_of_parameters(void (*)(Work)) {
  static_assert(std::is_trivially_copyable_v<Work>, "kernels get a copy of the bytes");
  static_assert(sizeof(Work) <= 4096, "drivers before 12.1 take no more");
  return sizeof(Work);
}

template <auto kernel, class Work>
void run_with(void (*)(Work), const void* parameters) {
  kernel(*static_cast<const Work*>(parameters));
}

template <auto kernel>
constexpr Kernel entry(const char* name) {
  return {name, size_of_parameters(kernel),
          [](const void* parameters) { run_with<kernel>(kernel, parameters); }};
}

// The kernels in each source of kernels.
std::span<const Kernel> convolution_kernels();
std::span<const Kernel> element_kernels();
std::span<const Kernel> movement_kernels();
std::span<const Kernel> product_kernels();
std::span<const Kernel> row_kernels();
std::span<const Kernel> sampling_kernels();
std::span<const Kernel> window_kernels();

/// Null if there is none.
const Kernel* kernel_named(std::string_view name);

}  // namespace emulated
