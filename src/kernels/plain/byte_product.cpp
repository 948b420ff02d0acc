#include "kernels/plain/byte_product.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/plain/pieces.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace millrace::kernels {
namespace {

constexpr std::size_t byte_panel = 32;     // columns
constexpr std::size_t panel_step_bytes =
    128;                                   // of a panel: 32 columns times 4 bytes or 2 halfwords
constexpr std::size_t rows_of_piece = 64;  // their bytes and sums stay in the cache

/// Rows of four bytes or two halfwords a step, by one panel.
struct BytePanel {
  const std::byte* rows;
  const std::byte* panel;
  const std::int32_t* starts;  // of the sums, by column
  std::int32_t* sums;
  std::size_t steps, rows_apart, sums_apart;
};

#if defined(__x86_64__)
[[gnu::always_inline]] inline std::int32_t four_bytes(const std::byte* from) {
  std::int32_t x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

template <std::size_t rows>
[[gnu::target("avx512f,avx512bw,avx512vnni")]] void multiply_quads(const BytePanel& p) {
  __m512i sums[rows][2];
  for (std::size_t r = 0; r < rows; ++r) {
    sums[r][0] = _mm512_loadu_si512(p.starts);
    sums[r][1] = _mm512_loadu_si512(p.starts + 16);
  }
  for (std::size_t k = 0; k < p.steps; ++k) {
    const __m512i a = _mm512_loadu_si512(p.panel + k * panel_step_bytes);
    const __m512i b = _mm512_loadu_si512(p.panel + k * panel_step_bytes + 64);
    for (std::size_t r = 0; r < rows; ++r) {
      const __m512i x = _mm512_set1_epi32(four_bytes(p.rows + r * p.rows_apart + 4 * k));
      sums[r][0] = _mm512_dpbusd_epi32(sums[r][0], x, a);
      sums[r][1] = _mm512_dpbusd_epi32(sums[r][1], x, b);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    _mm512_storeu_si512(p.sums + r * p.sums_apart, sums[r][0]);
    _mm512_storeu_si512(p.sums + r * p.sums_apart + 16, sums[r][1]);
  }
}

template <std::size_t rows>
[[gnu::target("avx2")]] void multiply_pairs_fast(const BytePanel& p) {
  __m256i sums[rows][4];
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t n = 0; n < 4; ++n)
      sums[r][n] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p.starts + n * 8));
  for (std::size_t k = 0; k < p.steps; ++k)
    for (std::size_t n = 0; n < 4; ++n) {
      const __m256i a = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(p.panel + k * panel_step_bytes + n * 32));
      for (std::size_t r = 0; r < rows; ++r) {
        const __m256i x = _mm256_set1_epi32(four_bytes(p.rows + r * p.rows_apart + 4 * k));
        sums[r][n] = _mm256_add_epi32(sums[r][n], _mm256_madd_epi16(x, a));
      }
    }
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t n = 0; n < 4; ++n)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p.sums + r * p.sums_apart + n * 8),
                          sums[r][n]);
}
#endif

/// On any processor, one row.
void multiply_pairs(const BytePanel& p) {
  const auto* const row = reinterpret_cast<const std::int16_t*>(p.rows);
  const auto* const panel = reinterpret_cast<const std::int16_t*>(p.panel);
  std::copy_n(p.starts, byte_panel, p.sums);
  for (std::size_t k = 0; k < p.steps; ++k)
    for (std::size_t c = 0; c < byte_panel; ++c) {
      const std::int16_t* const pair = panel + (k * byte_panel + c) * 2;
      p.sums[c] += std::int32_t{row[2 * k]} * pair[0] + std::int32_t{row[2 * k + 1]} * pair[1];
    }
}

using MultiplyPanel = void (*)(const BytePanel&);

template <std::size_t rows>
MultiplyPanel fast_kernel([[maybe_unused]] bool quads) {
#if defined(__x86_64__)
  if (quads) return multiply_quads<rows>;
  if (__builtin_cpu_supports("avx2")) return multiply_pairs_fast<rows>;
#endif
  return nullptr;
}

void multiply_rows_by_panel(BytePanel p, std::size_t rows, bool quads) {
  constexpr std::size_t most = 4;
  const auto many = fast_kernel<most>(quads), fast = fast_kernel<1>(quads);
  const auto go_on = [&](std::size_t count) {
    p.rows += count * p.rows_apart;
    p.sums += count * p.sums_apart;
    rows -= count;
  };
  for (; many && rows >= most; go_on(most)) many(p);
  for (; rows > 0; go_on(1)) fast ? fast(p) : multiply_pairs(p);
}

/// Bytes to halfwords, less the zero point. What lies behind the depth is multiplied with zeros.
void widen(const std::uint8_t* from, std::size_t count, std::int32_t zero, std::int16_t* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = static_cast<std::int16_t>(std::int32_t{from[i]} - zero);
}

bool fits_quads(std::span<const std::int16_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int16_t n) { return n >= -128 && n <= 127; });
}

}  // namespace

bool has_quads() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

PackedBytes::PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns)
    : PackedBytes(transposed, columns, has_quads() && fits_quads(transposed)) {}

PackedBytes::PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns, bool quads)
    : columns_(columns), depth_(columns == 0 ? 0 : transposed.size() / columns), quads_(quads) {
  const std::size_t in_step = quads_ ? 4 : 2, bytes = 4 / in_step;
  panels_.resize(width() / byte_panel * steps() * panel_step_bytes);
  column_sums_.resize(width());
  for (std::size_t c = 0; c < columns; ++c)
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::int16_t number = transposed[c * depth_ + k];
      const std::size_t step = c / byte_panel * steps() + k / in_step;
      std::byte* const place =
          panels_.data() + step * panel_step_bytes + c % byte_panel * 4 + k % in_step * bytes;
      std::memcpy(place, &number, bytes);  // the lower byte comes first
      column_sums_[c] += number;
    }
}

std::size_t PackedBytes::width() const {
  return (columns_ + byte_panel - 1) / byte_panel * byte_panel;
}

std::size_t PackedBytes::steps() const {
  const std::size_t in_step = quads_ ? 4 : 2;
  return (depth_ + in_step - 1) / in_step;
}

void PackedBytes::multiply_piece(const ByteRows& rows, std::size_t first, std::size_t count,
                                 const Take& take) const {
  const std::size_t in_step = quads_ ? 4 : 2, padded = steps() * in_step;
  std::vector<std::uint8_t> bytes(count * padded);
  rows.write(first, count, bytes.data(), padded);
  std::vector<std::int16_t> wide(quads_ ? 0 : bytes.size());
  if (!quads_) widen(bytes.data(), bytes.size(), rows.zero, wide.data());
  const std::size_t columns = width();
  // With bytes the zero point is taken off the sums: as often as there is a weight.
  std::vector<std::int32_t> starts(columns);
  const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(count * columns);
  for (std::size_t c = 0; c < columns && quads_; ++c) starts[c] = -rows.zero * column_sums_[c];
  BytePanel panel{reinterpret_cast<const std::byte*>(bytes.data()),
                  panels_.data(),
                  starts.data(),
                  sums.get(),
                  steps(),
                  padded,
                  columns};
  if (!quads_) {
    panel.rows = reinterpret_cast<const std::byte*>(wide.data());
    panel.rows_apart = 2 * padded;
  }
  for (std::size_t c = 0; c < columns; c += byte_panel) {
    multiply_rows_by_panel(panel, count, quads_);
    panel.panel += steps() * panel_step_bytes;
    panel.starts += byte_panel;
    panel.sums += byte_panel;
  }
  take(first, count, sums.get());
}

void PackedBytes::multiply(const ByteRows& rows, const Take& take) const {
  in_pieces(rows.count, rows_of_piece, [&](std::size_t first, std::size_t last) {
    multiply_piece(rows, first, last - first, take);
  });
}

}  // namespace millrace::kernels
