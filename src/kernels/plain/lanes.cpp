#include "kernels/plain/lanes.h"

#include <cstdlib>
#include <string>

namespace millrace::kernels {
namespace {

std::size_t found_lanes() {
  const char* const variable = std::getenv("MILLRACE_MOST_LANES");
  const std::string most = variable == nullptr ? "16" : variable;
#if defined(__x86_64__)
  const bool has_8 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (__builtin_cpu_supports("avx512f") && most == "16") return 16;
  if (has_8 && most != "4") return 8;
#endif
  return 4;
}

}  // namespace

std::size_t lanes_here() {
  static const std::size_t lanes = found_lanes();
  return lanes;
}

}  // namespace millrace::kernels
