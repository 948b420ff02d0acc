#include "kernels/quads/byte_unit.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace millrace::kernels {
namespace {

#if defined(__x86_64__)
/// Not all compilers that we support know it by name: leaf 7, 1.
bool has_vnni_of_avx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1u << 4)) != 0;
}
#endif

}  // namespace

std::vector<ByteUnit> byte_units() {
  std::vector<ByteUnit> units;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return units;
  if (has_vnni_of_avx()) units.push_back(ByteUnit::avx_vnni);
  units.push_back(ByteUnit::avx2);
  units.push_back(ByteUnit::avx2_signs);
#elif defined(__aarch64__)
  if ((::getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) units.push_back(ByteUnit::neon_i8mm);
  if ((::getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) units.push_back(ByteUnit::neon_dot);
  units.push_back(ByteUnit::neon);
#endif
  return units;
}

const char* name_of(ByteUnit unit) {
  switch (unit) {
    case ByteUnit::avx2:
      return "avx2";
    case ByteUnit::avx2_signs:
      return "avx2_signs";
    case ByteUnit::avx_vnni:
      return "avx_vnni";
    case ByteUnit::neon:
      return "neon";
    case ByteUnit::neon_dot:
      return "neon_dot";
    case ByteUnit::neon_i8mm:
      break;
  }
  return "neon_i8mm";
}

UnitShape shape_of(ByteUnit unit) {
  if (unit == ByteUnit::avx2 || unit == ByteUnit::avx_vnni) return {16, 4, false, 8};
  if (unit == ByteUnit::avx2_signs) return {16, 4, true, 8};
  return {};
}

}  // namespace millrace::kernels
