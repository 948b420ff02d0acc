// In assembly, because a peak must not depend on the compiler and its options, nor on which
// instructions the compiler knows.
#include "board/unit_loops.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <string>

#include "board/instruction_sets.h"

namespace millrace::board {
namespace {

/// For machines without any of the units below: what the compiler makes of four floats at a time.
constexpr int portable_sums = 12;
void run_portable(std::int64_t rounds) {
  using Vector = float __attribute__((vector_size(16)));
  const Vector factor = {0.5f, 0.5f, 0.5f, 0.5f}, term = {1, 1, 1, 1};
  std::array<Vector, portable_sums> sums{};
  for (; rounds > 0; --rounds)
    for (Vector& sum : sums) sum = sum * factor + term;
  Vector all{};
  for (const Vector& sum : sums) all += sum;
  [[maybe_unused]] const volatile float used = all[0];
}
constexpr UnitLoop portable{"portable", Precision::f32, portable_sums * 4 * 2, run_portable};

#if defined(__x86_64__)

// Ones, in each precision.
constexpr std::uint32_t f32_ones = 0x3f800000, bf16_ones = 0x3f803f80, f16_ones = 0x3c003c00,
                        int8_ones = 0x01010101;

/// The assembler picks the instructions by these numbers.
enum VectorUnit {
  avx2_fma,
  avx2_bytes,
  avx512_fma,
  avx512_bytes,
  avx512_bf16,
  avx512_vnni,
  avx512_fp16
};

/// Registers 0 to 11 are sums, 12 and 13 operands, 14 is for intermediate results: without VNNI, a
/// sum of products of bytes takes three instructions.
constexpr int vector_sums = 12;
template <VectorUnit unit, std::uint32_t ones>
void run_vectors(std::int64_t rounds) {
  __asm__ volatile(
      "vzeroall\n"
      "vmovd %[ones], %%xmm12\n"
      ".if %c[unit] <= %c[last_of_avx2]\n"
      "vpbroadcastd %%xmm12, %%ymm12\n"
      "vmovdqa %%ymm12, %%ymm13\n"
      ".else\n"
      "vpbroadcastd %%xmm12, %%zmm12\n"
      "vmovdqa32 %%zmm12, %%zmm13\n"
      ".endif\n"
      "1:\n"
      ".irp sum, 0,1,2,3,4,5,6,7,8,9,10,11\n"
      ".if %c[unit] == 0\n"
      "vfmadd231ps %%ymm12, %%ymm13, %%ymm\\sum\n"
      ".elseif %c[unit] == 1\n"
      "vpmaddubsw %%ymm12, %%ymm13, %%ymm14\n"
      "vpmaddwd %%ymm14, %%ymm13, %%ymm14\n"
      "vpaddd %%ymm14, %%ymm\\sum, %%ymm\\sum\n"
      ".elseif %c[unit] == 2\n"
      "vfmadd231ps %%zmm12, %%zmm13, %%zmm\\sum\n"
      ".elseif %c[unit] == 3\n"
      "vpmaddubsw %%zmm12, %%zmm13, %%zmm14\n"
      "vpmaddwd %%zmm14, %%zmm13, %%zmm14\n"
      "vpaddd %%zmm14, %%zmm\\sum, %%zmm\\sum\n"
      ".elseif %c[unit] == 4\n"
      "vdpbf16ps %%zmm12, %%zmm13, %%zmm\\sum\n"
      ".elseif %c[unit] == 5\n"
      "vpdpbusd %%zmm12, %%zmm13, %%zmm\\sum\n"
      ".elseif %c[unit] == 6\n"
      "vfmadd231ph %%zmm12, %%zmm13, %%zmm\\sum\n"
      ".endif\n"
      ".endr\n"
      "dec %[rounds]\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : [rounds] "+r"(rounds)
      : [ones] "r"(ones), [unit] "i"(unit), [last_of_avx2] "i"(avx2_bytes)
      : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
}

/// Eight tiles of 16 rows of 64 bytes, as LDTILECFG wants them described.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0;
  std::array<std::uint8_t, 14> reserved{};
  std::array<std::uint16_t, 16> row_bytes{64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows{16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

/// Tiles 0 to 5 are sums, which loading the shapes has cleared, 6 and 7 operands. The compiler
/// keeps nothing in tiles.
constexpr int tile_sums = 6;
template <bool bytes>
void run_tiles(std::int64_t rounds) {
  const TileShapes shapes;
  std::array<std::uint32_t, 16 * 16> operand;
  operand.fill(bytes ? int8_ones : bf16_ones);
  __asm__ volatile(
      "ldtilecfg %[shapes]\n"
      "tileloadd (%[operand],%[stride],1), %%tmm6\n"
      "tileloadd (%[operand],%[stride],1), %%tmm7\n"
      "1:\n"
      ".irp sum, 0,1,2,3,4,5\n"
      ".if %c[bytes]\n"
      "tdpbusd %%tmm6, %%tmm7, %%tmm\\sum\n"
      ".else\n"
      "tdpbf16ps %%tmm6, %%tmm7, %%tmm\\sum\n"
      ".endif\n"
      ".endr\n"
      "dec %[rounds]\n"
      "jnz 1b\n"
      "tilerelease\n"
      : [rounds] "+r"(rounds)
      : [shapes] "m"(shapes), [operand] "r"(operand.data()), [stride] "r"(std::int64_t{64}),
        [bytes] "i"(bytes)
      : "memory", "cc");
}

/// Linux gives a process the tiles when it asks for them.
bool may_use_tiles() {
  constexpr long request_permission = 0x1023, tile_data = 18;
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

#endif

}  // namespace

#if defined(__x86_64__)
std::vector<UnitLoop> unit_loops() {
  const std::vector<std::string> sets = instruction_sets();
  const auto has = [&](const char* set) {
    return std::find(sets.begin(), sets.end(), set) != sets.end();
  };
  std::vector<UnitLoop> loops;
  const auto add = [&](bool present, const UnitLoop& loop) {
    if (present) loops.push_back(loop);
  };
  using enum Precision;
  // Multiply-accumulates of one instruction on bytes; on wider numbers there are fewer.
  constexpr int ymm = 32, zmm = 64, tile = 16 * 16 * 64;
  add(has("avx2") && has("fma"),
      {"avx2", f32, vector_sums * ymm / 4 * 2, run_vectors<avx2_fma, f32_ones>});
  add(has("avx2"), {"avx2", int8, vector_sums * ymm * 2, run_vectors<avx2_bytes, int8_ones>});
  add(has("avx512f"),
      {"avx512f", f32, vector_sums * zmm / 4 * 2, run_vectors<avx512_fma, f32_ones>});
  add(has("avx512bw"),
      {"avx512bw", int8, vector_sums * zmm * 2, run_vectors<avx512_bytes, int8_ones>});
  add(has("avx512_bf16"),
      {"avx512_bf16", bf16, vector_sums * zmm / 2 * 2, run_vectors<avx512_bf16, bf16_ones>});
  add(has("avx512_vnni"),
      {"avx512_vnni", int8, vector_sums * zmm * 2, run_vectors<avx512_vnni, int8_ones>});
  add(has("avx512_fp16"),
      {"avx512_fp16", f16, vector_sums * zmm / 2 * 2, run_vectors<avx512_fp16, f16_ones>});
  const bool tiles = has("amx_tile") && may_use_tiles();
  add(tiles && has("amx_bf16"), {"amx_bf16", bf16, tile_sums * tile / 2 * 2, run_tiles<false>});
  add(tiles && has("amx_int8"), {"amx_int8", int8, tile_sums * tile * 2, run_tiles<true>});
  if (!(has("avx2") && has("fma")) && !has("avx512f")) loops.push_back(portable);
  return loops;
}
#else
std::vector<UnitLoop> unit_loops() { return {portable}; }
#endif

}  // namespace millrace::board
