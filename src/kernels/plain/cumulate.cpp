#include "kernels/plain/cumulate.h"

#include <algorithm>
#include <array>

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

/// Sums up numbers side by side, each with its own sum.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void cumulate_strip(const Cumulation& axis, const float* from, float* to, std::size_t count) {
  constexpr std::size_t most = 256;
  std::array<float, most> sums{};
  for (std::size_t i = 0; i < axis.size; ++i) {
    const std::size_t at = (axis.reverse ? axis.size - 1 - i : i) * axis.inner;
    for (std::size_t n = 0; n < std::min(count, most); ++n) {
      const float before = sums[n];
      sums[n] = before + from[at + n];
      to[at + n] = axis.exclusive ? before : sums[n];
    }
  }
}

/// Rows, several at once: their sums do not wait for each other.
template <std::size_t rows>
void cumulate_rows(const Cumulation& axis, const float* from, float* to) {
  std::array<float, rows> sums{};
  for (std::size_t i = 0; i < axis.size; ++i) {
    const std::size_t at = axis.reverse ? axis.size - 1 - i : i;
    for (std::size_t r = 0; r < rows; ++r) {
      const float before = sums[r];
      sums[r] = before + from[r * axis.size + at];
      to[r * axis.size + at] = axis.exclusive ? before : sums[r];
    }
  }
}

}  // namespace

void cumulate(const Cumulation& axis, const float* from, float* to) {
  if (axis.inner == 1) {
    in_pieces_of_rows(axis.outer, axis.size, [&](std::size_t first, std::size_t last) {
      constexpr std::size_t at_once = 4;
      std::size_t row = first;
      for (; row + at_once <= last; row += at_once)
        cumulate_rows<at_once>(axis, from + row * axis.size, to + row * axis.size);
      for (; row < last; ++row)
        cumulate_rows<1>(axis, from + row * axis.size, to + row * axis.size);
    });
    return;
  }
  constexpr std::size_t strip_numbers = 256;
  const std::size_t strips = (axis.inner + strip_numbers - 1) / strip_numbers;
  const auto write = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t column = i % strips * strip_numbers;
      const std::size_t at = i / strips * axis.size * axis.inner + column;
      cumulate_strip(axis, from + at, to + at, std::min(strip_numbers, axis.inner - column));
    }
  };
  in_pieces_of_rows(axis.outer * strips, axis.size * strip_numbers, write);
}

}  // namespace millrace::kernels
