#pragma once
// Inside the kernels for AMX: a block of 32 x 32 sums in the tile registers 0 to 3. Factors are
// rows of 64 bytes, in 4 and 5, and columns, in 6 and 7: numbers that are multiplied with each
// other's neighbours lie side by side in 4 bytes.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace millrace::kernels {

inline constexpr std::size_t block = 32;      // rows and columns that are computed at once
inline constexpr std::size_t tile = 16 * 64;  // bytes

/// All of whole size. Each thread does so before it computes, and releases them behind that.
[[gnu::target("avx512f,amx-tile")]] inline void configure_tiles() {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
  };
  static const Configuration configuration;
  _tile_loadconfig(&configuration);
}

[[gnu::target("avx512f,amx-tile")]] inline void release_tiles() { _tile_release(); }

[[gnu::target("avx512f,amx-tile")]] inline void clear_tiles() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

/// `apart`: bytes from one row to the next.
[[gnu::target("avx512f,amx-tile")]] inline void store_tiles(float* to, std::size_t apart) {
  float* const below = to + 16 * (apart / sizeof(float));
  _tile_stored(0, to, apart);
  _tile_stored(1, to + 16, apart);
  _tile_stored(2, below, apart);
  _tile_stored(3, below + 16, apart);
}

[[gnu::target("avx512f,amx-tile")]] inline void load_rows(const std::byte* from,
                                                          std::size_t apart) {
  _tile_loadd(4, from, apart);
  _tile_loadd(5, from + 16 * apart, apart);
}

/// Two tiles, one after the other.
[[gnu::target("avx512f,amx-tile")]] inline void load_columns(const std::byte* from) {
  _tile_loadd(6, from, 64);
  _tile_loadd(7, from + tile, 64);
}

/// Multiplies tiles of bfloat16 numbers.
[[gnu::target("avx512f,amx-tile,amx-bf16")]] inline void multiply_tiles() {
  _tile_dpbf16ps(0, 4, 6);
  _tile_dpbf16ps(1, 4, 7);
  _tile_dpbf16ps(2, 5, 6);
  _tile_dpbf16ps(3, 5, 7);
}

}  // namespace millrace::kernels
