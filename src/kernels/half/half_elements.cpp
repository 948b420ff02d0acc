#include "kernels/half/half_elements.h"

#include <algorithm>

#include "kernels/half/half_numbers.h"
#include "kernels/half/half_panels.h"

namespace millrace::kernels {

#if defined(__aarch64__) && !defined(__clang__)
namespace {

/// work(first, end) for pieces of so many elements, which fill whole vectors but for the last one.
template <class Work>
void for_each_piece(std::size_t count, const Work& work) {
  constexpr std::size_t piece = 4096;
  const auto pieces = static_cast<std::ptrdiff_t>(divided_up(count, piece));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (pieces > 4)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * piece;
    work(first, std::min(first + piece, count));
  }
}

/// Of eight numbers.
struct PairedHalves {
  HalfPairs pairs;
  float16x8_t low, high;

  [[gnu::always_inline]] inline float16x8_t of(
      float16x8_t a, float16x8_t b) const {
    const float16x8_t y = pairs == HalfPairs::sums ? sum_of(a, b) : product_of(a, b);
    return clipped(y, low, high);
  }
};

void pair_piece(const HalfPairing& pairing,
                                                       std::span<const Half> a, const Half* b,
                                                       Half* to) {
  const std::size_t count = a.size();
  const PairedHalves paired{pairing.pairs, spread_half(pairing.low), spread_half(pairing.high)};
  std::size_t i = 0;
  for (; i + half_lanes <= count; i += half_lanes)
    write_half(to + i, paired.of(read_half(a.data() + i), read_half(b + i)));
  if (i == count) return;
  Half left[half_lanes] = {}, right[half_lanes] = {};
  std::copy(a.begin() + static_cast<std::ptrdiff_t>(i), a.end(), left);
  std::copy(b + i, b + count, right);
  write_half(left, paired.of(read_half(left), read_half(right)));
  std::copy_n(left, count - i, to + i);
}

}  // namespace

void write_halves_of(std::span<const float> from, Half* to) {
  for_each_piece(from.size(), [&](std::size_t i, std::size_t end) {
    for (; i + half_lanes <= end; i += half_lanes) narrow_half(from.data() + i, to + i);
    if (i == end) return;
    float some[half_lanes] = {};
    Half narrowed[half_lanes];
    std::copy(from.data() + i, from.data() + end, some);
    narrow_half(some, narrowed);
    std::copy_n(narrowed, end - i, to + i);
  });
}

void write_floats_of(std::span<const Half> from, float* to) {
  for_each_piece(from.size(), [&](std::size_t i, std::size_t end) {
    for (; i + half_lanes <= end; i += half_lanes) widen_half(from.data() + i, to + i);
    if (i == end) return;
    Half some[half_lanes] = {};
    float wide[half_lanes];
    std::copy(from.data() + i, from.data() + end, some);
    widen_half(some, wide);
    std::copy_n(wide, end - i, to + i);
  });
}

void pair(const HalfPairing& pairing, const HalfPair& numbers, Half* to) {
  const std::span<const Half> a = numbers.a;
  const Half* const b = numbers.b;
  const std::size_t row = numbers.row;
  if (row == 0)
    return for_each_piece(a.size(), [&](std::size_t first, std::size_t end) {
      pair_piece(pairing, a.subspan(first, end - first), b + first, to + first);
    });
  const auto rows = static_cast<std::ptrdiff_t>(a.size() / row);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * row;
    pair_piece(pairing, a.subspan(first, row), b, to + first);
  }
}
#else
void write_halves_of(std::span<const float>, Half*) {}
void write_floats_of(std::span<const Half>, float*) {}
void pair(const HalfPairing&, const HalfPair&, Half*) {}
#endif

}  // namespace millrace::kernels
