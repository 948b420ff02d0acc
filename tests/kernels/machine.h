#pragma once
// What the processor that runs the tests can execute.
#include <algorithm>
#include <cstddef>
#include <string_view>
#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "board/instruction_sets.h"

namespace millrace::test::kernels {

inline bool has(std::string_view instructions) {
  const auto sets = board::instruction_sets();
  return std::find(sets.begin(), sets.end(), instructions) != sets.end();
}
inline bool has_bfloat16() { return has("avx512_bf16"); }
/// Whether there are products of integers, of 16 bits in pairs and of 8 bits in fours.
inline bool has_integer_products() { return has("avx512bw") && has("avx512_vnni"); }
/// Linux gives tile registers to processes that ask for them.
inline bool has_amx() {
#if defined(__x86_64__)
  constexpr int request_permission = 0x1023, tiles = 18;
  return has("amx_bf16") && has("amx_int8") &&
         syscall(SYS_arch_prctl, request_permission, tiles) == 0;
#else
  return false;
#endif
}
/// float32 numbers of the widest vectors.
inline std::size_t vector_lanes() {
  if (has("avx512bw")) return 16;
  return has("avx2") ? 8 : 4;
}

}  // namespace millrace::test::kernels
