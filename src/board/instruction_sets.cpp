#include "board/instruction_sets.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <cstdint>

namespace millrace::board {

#if defined(__x86_64__)
namespace {

/// The compilers we support do not all know AMX by name, so its bits are read here: the
/// processor has it (leaf 7) and the system saves its registers (bits 17 and 18 of XCR0).
struct Amx {
  bool tile = false, int8 = false, bf16 = false;
};

Amx amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1u << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0) return {};
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr std::uint32_t tile_state = (1u << 17) | (1u << 18);
  if ((low & tile_state) != tile_state) return {};
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
  return {(d & (1u << 24)) != 0, (d & (1u << 25)) != 0, (d & (1u << 22)) != 0};
}

/// Not all of these compilers know it (leaf 7, 1).
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_supports("avx2") == 0) return false;  // nor the system its registers
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & (1u << 4)) != 0;
}

/// Nor this one (leaf 7).
bool has_float16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__builtin_cpu_supports("avx512bw") == 0) return false;  // nor the system its registers
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1u << 23)) != 0;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  __builtin_cpu_init();
  std::vector<std::string> sets;
  const auto add = [&](bool present, const char* name) {
    if (present) sets.emplace_back(name);
  };
  add(__builtin_cpu_supports("sse4.1") != 0, "sse4.1");
  add(__builtin_cpu_supports("avx") != 0, "avx");
  add(__builtin_cpu_supports("avx2") != 0, "avx2");
  add(__builtin_cpu_supports("fma") != 0, "fma");
  add(has_avx_vnni(), "avx_vnni");
  add(__builtin_cpu_supports("avx512f") != 0, "avx512f");
  add(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
  add(__builtin_cpu_supports("avx512vnni") != 0, "avx512_vnni");
  add(__builtin_cpu_supports("avx512bf16") != 0, "avx512_bf16");
  add(has_float16(), "avx512_fp16");
  const Amx found = amx();
  add(found.tile, "amx_tile");
  add(found.int8, "amx_int8");
  add(found.bf16, "amx_bf16");
  return sets;
}
#elif defined(__aarch64__)
std::vector<std::string> instruction_sets() {
  const unsigned long has = ::getauxval(AT_HWCAP), has2 = ::getauxval(AT_HWCAP2);
  std::vector<std::string> sets;
  const auto add = [&](bool present, const char* name) {
    if (present) sets.emplace_back(name);
  };
  add((has & HWCAP_ASIMD) != 0, "asimd");
  add((has & HWCAP_ASIMDHP) != 0, "asimdhp");
  add((has & HWCAP_ASIMDDP) != 0, "asimddp");
  add((has & HWCAP_SVE) != 0, "sve");
  add((has2 & HWCAP2_I8MM) != 0, "i8mm");
  add((has2 & HWCAP2_BF16) != 0, "bf16");
  return sets;
}
#else
std::vector<std::string> instruction_sets() { return {}; }
#endif

std::string architecture() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

}  // namespace millrace::board
