#include "kernels/plain/byte_tiles.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::kernels {

std::size_t quad_place(std::size_t channel) {
  const std::size_t lane = channel / 16, vector = channel % 16 / 4;
  return vector * 16 + lane * 4 + channel % 4;
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t vector_numbers = 16, panel_columns = 32, panel_step = 128;
constexpr std::size_t most_rows =
    6;  // 6 x 4 sums, 4 vectors of weights and a byte's fit 32 registers

struct Rounding {
  __m512i zero;  // halfwords
  bool is_signed;
};

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] inline Rounding rounding_of(
    const ByteRescaling& rescaling) {
  return {_mm512_set1_epi16(static_cast<std::int16_t>(rescaling.zero)), rescaling.is_signed};
}

/// The nearest integers, halves the even ones; far above and below, some that are clamped later.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i nearest(
    __m512i sums, const float* factors) {
  const __m512 most = _mm512_set1_ps(65535.f);
  const __m512 x = _mm512_mul_ps(_mm512_cvtepi32_ps(sums), _mm512_loadu_ps(factors));
  // Where x is no number it stays so, and becomes the least integer.
  return _mm512_cvt_roundps_epi32(_mm512_min_ps(most, x),
                                  _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// Four bytes of each vector of sums, then the next four.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i bytes_of(
    const __m512i (&sums)[4], const float* factors, const Rounding& rounding) {
  const __m512i low = _mm512_adds_epi16(
      _mm512_packs_epi32(nearest(sums[0], factors), nearest(sums[1], factors + vector_numbers)),
      rounding.zero);
  const __m512i high =
      _mm512_adds_epi16(_mm512_packs_epi32(nearest(sums[2], factors + 2 * vector_numbers),
                                           nearest(sums[3], factors + 3 * vector_numbers)),
                        rounding.zero);
  return rounding.is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __mmask64
first_bytes(std::size_t count) {
  return count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
}

/// Stores with a mask are slow, so they are for odd numbers of bytes only.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline void store(
    __m512i bytes, std::size_t count, std::uint8_t* to) {
  if (count >= 64) return _mm512_storeu_si512(to, bytes);
  if (count % 8 != 0) return _mm512_mask_storeu_epi8(to, first_bytes(count), bytes);
  __m256i half = _mm512_castsi512_si256(bytes);
  if ((count & 32) != 0) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), half);
    half = _mm512_extracti64x4_epi64(bytes, 1);
    to += 32;
  }
  __m128i quarter = _mm256_castsi256_si128(half);
  if ((count & 16) != 0) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), quarter);
    quarter = _mm256_extracti128_si256(half, 1);
    to += 16;
  }
  if ((count & 8) != 0) _mm_storel_epi64(reinterpret_cast<__m128i*>(to), quarter);
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i
four_bytes(const std::uint8_t* from) {
  std::int32_t x;
  std::memcpy(&x, from, sizeof x);
  return _mm512_set1_epi32(x);
}

/// Some rows by one or two panels.
struct Tile {
  const std::uint8_t* bytes;
  std::size_t row_apart, steps;
  const std::byte* panels;
  const std::int32_t* starts;
  const std::int32_t *lacking, *row_sums;
};

/// What the sums of a row begin with: 16 of them.
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i start_of(
    const Tile& tile, std::size_t row, std::size_t first) {
  const __m512i start = _mm512_loadu_si512(tile.starts + first);
  if (tile.lacking == nullptr) return start;
  const __m512i lacking = _mm512_loadu_si512(tile.lacking + first);
  return _mm512_add_epi32(start,
                          _mm512_mullo_epi32(_mm512_set1_epi32(tile.row_sums[row]), lacking));
}

/// A function of its own, so that sums stay in registers until they are complete.
template <std::size_t rows, std::size_t vectors>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::noinline]] void multiply(
    const Tile& tile, __m512i (&to)[rows][vectors]) {
  const std::size_t panel_bytes = tile.steps * panel_step, row_apart = tile.row_apart;
  __m512i sums[rows][vectors];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) sums[r][v] = start_of(tile, r, v * vector_numbers);
  const std::uint8_t* bytes = tile.bytes;
  const std::byte* panel = tile.panels;
  const std::byte* const end = panel + panel_bytes;
  for (; panel != end; panel += panel_step, bytes += 4) {
    __m512i weights[vectors];
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v)
      weights[v] = _mm512_loadu_si512(panel + v / 2 * panel_bytes + v % 2 * sizeof(__m512i));
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512i x = four_bytes(bytes + r * row_apart);
#pragma GCC unroll 8
      for (std::size_t v = 0; v < vectors; ++v)
        sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], x, weights[v]);
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (std::size_t v = 0; v < vectors; ++v) to[r][v] = sums[r][v];
}

struct SumsTo {
  std::int32_t* to;
  std::size_t apart;

  template <std::size_t rows, std::size_t vectors>
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline void take(
      const __m512i (&sums)[rows][vectors], std::size_t row, std::size_t column) const {
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t v = 0; v < vectors; ++v)
        _mm512_storeu_si512(to + (row + r) * apart + column + v * vector_numbers, sums[r][v]);
  }
};

struct BytesTo {
  std::uint8_t* to;
  std::size_t apart, columns;
  const float* factors;
  Rounding rounding;

  template <std::size_t rows, std::size_t vectors>
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline void take(
      const __m512i (&sums)[rows][vectors], std::size_t row, std::size_t column) const {
    // From four bytes of each vector to all of each.
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512i four[4]{sums[r][0], sums[r][1], sums[r][vectors / 2], sums[r][vectors - 1]};
      // With one panel its vectors stand for those of the second, whose bytes nobody stores.
      const float* const scales = factors + column;
      const __m512i bytes =
          vectors == 4 ? bytes_of(four, scales, rounding) : half_bytes_of(four[0], four[1], scales);
      store(_mm512_permutexvar_epi32(order, bytes), columns - column,
            to + (row + r) * apart + column);
    }
  }

 private:
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i
  half_bytes_of(__m512i a, __m512i b, const float* scales) const {
    const __m512i both = _mm512_adds_epi16(
        _mm512_packs_epi32(nearest(a, scales), nearest(b, scales + vector_numbers)), rounding.zero);
    return rounding.is_signed ? _mm512_packs_epi16(both, both) : _mm512_packus_epi16(both, both);
  }
};

template <std::size_t rows, std::size_t panels, class Take>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void run_tile(const Tile& tile,
                                                                      const Take& to,
                                                                      std::size_t row,
                                                                      std::size_t column) {
  __m512i sums[rows][2 * panels];
  multiply(tile, sums);
  to.take(sums, row, column);
}

/// The rows by one or two panels.
template <std::size_t panels, class Take>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void run_panels(const ByteTiles& all,
                                                                        const Take& to,
                                                                        std::size_t column) {
  const std::byte* const weights = all.panels + column / panel_columns * all.steps * panel_step;
  Tile tile{all.bytes,           all.row_apart,
            all.steps,           weights,
            all.starts + column, all.lacking == nullptr ? nullptr : all.lacking + column,
            all.row_sums};
  const auto go_on = [&](std::size_t rows) {
    tile.bytes += rows * all.row_apart;
    if (tile.row_sums != nullptr) tile.row_sums += rows;
  };
  std::size_t row = 0;
  for (; row + most_rows <= all.rows; row += most_rows) {
    run_tile<most_rows, panels>(tile, to, row, column);
    go_on(most_rows);
  }
  for (; row + 2 <= all.rows; row += 2) {
    run_tile<2, panels>(tile, to, row, column);
    go_on(2);
  }
  if (row < all.rows) run_tile<1, panels>(tile, to, row, column);
}

template <class Take>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void run_tiles(const ByteTiles& all,
                                                                       const Take& to) {
  std::size_t column = 0;
  for (; column + panel_columns < all.columns; column += 2 * panel_columns)
    run_panels<2>(all, to, column);
  if (column < all.columns) run_panels<1>(all, to, column);
}

/// The same byte of four rows side by side, for 64 channels: see quad_place().
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline void interleave(
    const __m512i (&rows)[4], __m512i (&quads)[4]) {
  const __m512i a = _mm512_unpacklo_epi8(rows[0], rows[1]);
  const __m512i b = _mm512_unpackhi_epi8(rows[0], rows[1]);
  const __m512i c = _mm512_unpacklo_epi8(rows[2], rows[3]);
  const __m512i d = _mm512_unpackhi_epi8(rows[2], rows[3]);
  quads[0] = _mm512_unpacklo_epi16(a, c);
  quads[1] = _mm512_unpackhi_epi16(a, c);
  quads[2] = _mm512_unpacklo_epi16(b, d);
  quads[3] = _mm512_unpackhi_epi16(b, d);
}

template <bool all>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni"), gnu::always_inline]] inline __m512i channels(
    const std::uint8_t* from, __mmask64 there) {
  return all ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(there, from);
}

/// `all`: 64 channels are there.
template <bool all>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void write_quads_of(
    const QuadRow& row, const QuadBlock& block, const Rounding& rounding) {
  const __m512i sign = _mm512_set1_epi8(row.is_signed ? static_cast<char>(0x80) : 0);
  const __mmask64 there = first_bytes(block.channels);
  const std::size_t quad_count = row.neighbours.size() / 4;
  const auto* const weights = reinterpret_cast<const __m512i*>(block.weights);
  std::uint8_t* to = row.to + block.first;
  for (std::size_t p = 0; p < row.count; ++p, to += row.to_apart) {
    const std::size_t at = block.first + p * row.from_apart;
    __m512i sums[4];
    for (std::size_t v = 0; v < 4; ++v)
      sums[v] = _mm512_loadu_si512(block.starts + v * vector_numbers);
    for (std::size_t k = 0; k < quad_count; ++k) {
      const std::uint8_t* const* const four = row.neighbours.data() + 4 * k;
      __m512i rows[4], quads[4];
      for (std::size_t i = 0; i < 4; ++i)
        rows[i] = _mm512_xor_si512(channels<all>(four[i] + at, there), sign);
      interleave(rows, quads);
      for (std::size_t v = 0; v < 4; ++v)
        sums[v] = _mm512_dpbusd_epi32(sums[v], quads[v], _mm512_loadu_si512(weights + 4 * k + v));
    }
    store(bytes_of(sums, block.factors, rounding), all ? quad_channels : block.channels, to);
  }
}

}  // namespace

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void sum_bytes(const ByteTiles& tiles,
                                                                       std::size_t size,
                                                                       std::int32_t* to) {
  constexpr std::size_t vector_bytes = 64;
  const __m512i zero = _mm512_setzero_si512();
  for (std::size_t r = 0; r < tiles.rows; ++r) {
    const std::uint8_t* const row = tiles.bytes + r * tiles.row_apart;
    __m512i sums = zero;
    for (std::size_t i = 0; i < size; i += vector_bytes) {
      const __m512i bytes = _mm512_maskz_loadu_epi8(first_bytes(size - i), row + i);
      sums = _mm512_add_epi64(sums, _mm512_sad_epu8(bytes, zero));
    }
    to[r] = static_cast<std::int32_t>(_mm512_reduce_add_epi64(sums));
  }
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void multiply_to_sums(
    const ByteTiles& tiles, std::int32_t* to, std::size_t apart) {
  run_tiles(tiles, SumsTo{to, apart});
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void multiply_to_bytes(
    const ByteTiles& tiles, const ByteRescaling& rescaling, std::uint8_t* to, std::size_t apart) {
  run_tiles(tiles, BytesTo{to, apart, tiles.columns, rescaling.factors, rounding_of(rescaling)});
}

[[gnu::target("avx512f,avx512bw,avx512vl,avx512vnni")]] void write_quads(
    const QuadRow& row, const QuadBlock& block, const ByteRescaling& rescaling) {
  if (block.channels == quad_channels)
    write_quads_of<true>(row, block, rounding_of(rescaling));
  else
    write_quads_of<false>(row, block, rounding_of(rescaling));
}

#else
void sum_bytes(const ByteTiles& /*tiles*/, std::size_t /*size*/, std::int32_t* /*to*/) {}
void multiply_to_sums(const ByteTiles& /*tiles*/, std::int32_t* /*to*/, std::size_t /*apart*/) {}
void multiply_to_bytes(const ByteTiles& /*tiles*/, const ByteRescaling& /*rescaling*/,
                       std::uint8_t* /*to*/, std::size_t /*apart*/) {}
void write_quads(const QuadRow& /*row*/, const QuadBlock& /*block*/,
                 const ByteRescaling& /*rescaling*/) {}
#endif

}  // namespace millrace::kernels
