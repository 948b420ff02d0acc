#include "settings.h"

#include <algorithm>
#include <cstdlib>

namespace emulated {
namespace {

std::size_t number_of(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  return static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
}

}  // namespace

int device_count() {
  constexpr std::size_t most = 8;
  return static_cast<int>(std::min(most, number_of("MILLRACE_TEST_CUDA_DEVICES", 1)));
}

std::size_t device_memory() { return number_of("MILLRACE_TEST_CUDA_MEMORY", std::size_t{1} << 30); }

int copy_engines() { return static_cast<int>(number_of("MILLRACE_TEST_CUDA_COPY_ENGINES", 2)); }

std::size_t failing_launch() { return number_of("MILLRACE_TEST_CUDA_FAIL_AFTER", 0); }

}  // namespace emulated
