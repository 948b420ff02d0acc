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

/// Sums or products of eight numbers, each computed as if in float32 and rounded once.
struct PairedFloat16 : Float16Numbers {
  explicit PairedFloat16(const HalfPairing& p)
      : pairs(p.pairs), low(spread_half(p.low)), high(spread_half(p.high)) {}
  HalfPairs pairs;
  float16x8_t low, high;

  [[gnu::always_inline]] float16x8_t of(float16x8_t a, float16x8_t b) const {
    const float16x8_t y = pairs == HalfPairs::sums ? sum_of(a, b) : product_of(a, b);
    return clipped(y, low, high);
  }
};
struct PairedBfloat16 : Bfloat16Numbers {
  explicit PairedBfloat16(const HalfPairing& p)
      : pairs(p.pairs), least(vdupq_n_f32(p.low)), most(vdupq_n_f32(p.high)) {}
  HalfPairs pairs;
  float32x4_t least, most;

  [[gnu::always_inline]] float16x8_t of(float16x8_t a, float16x8_t b) const {
    return narrowed(of(low(a), low(b)), of(high(a), high(b)));
  }
  [[gnu::always_inline]] float32x4_t of(float32x4_t a, float32x4_t b) const {
    return clipped(pairs == HalfPairs::sums ? a + b : a * b, least, most);
  }
};

template <class Paired>
void pair_piece(const HalfPairing& pairing, std::span<const Half> a, const Half* b, Half* to) {
  const std::size_t count = a.size();
  const Paired paired(pairing);
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

template <class Paired>
void pair_all(const HalfPairing& pairing, const HalfPair& numbers, Half* to) {
  const std::span<const Half> a = numbers.a;
  const Half* const b = numbers.b;
  const std::size_t row = numbers.row;
  if (row == 0)
    return for_each_piece(a.size(), [&](std::size_t first, std::size_t end) {
      pair_piece<Paired>(pairing, a.subspan(first, end - first), b + first, to + first);
    });
  const auto rows = static_cast<std::ptrdiff_t>(a.size() / row);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * row;
    pair_piece<Paired>(pairing, a.subspan(first, row), b, to + first);
  }
}

template <class Numbers>
void narrow_all(std::span<const float> from, Half* to) {
  for_each_piece(from.size(), [&](std::size_t i, std::size_t end) {
    for (; i + half_lanes <= end; i += half_lanes) narrow_eight<Numbers>(from.data() + i, to + i);
    if (i == end) return;
    float some[half_lanes] = {};
    Half narrowed[half_lanes];
    std::copy(from.data() + i, from.data() + end, some);
    narrow_eight<Numbers>(some, narrowed);
    std::copy_n(narrowed, end - i, to + i);
  });
}

template <class Numbers>
void widen_all(std::span<const Half> from, float* to) {
  for_each_piece(from.size(), [&](std::size_t i, std::size_t end) {
    for (; i + half_lanes <= end; i += half_lanes) widen<Numbers>(from.data() + i, to + i);
    if (i == end) return;
    Half some[half_lanes] = {};
    float wide[half_lanes];
    std::copy(from.data() + i, from.data() + end, some);
    widen<Numbers>(some, wide);
    std::copy_n(wide, end - i, to + i);
  });
}

}  // namespace

void write_halves_of(std::span<const float> from, Half* to, StoredNumber kind) {
  kind == StoredNumber::bf16 ? narrow_all<Bfloat16Numbers>(from, to)
                             : narrow_all<Float16Numbers>(from, to);
}

void write_floats_of(std::span<const Half> from, float* to, StoredNumber kind) {
  kind == StoredNumber::bf16 ? widen_all<Bfloat16Numbers>(from, to)
                             : widen_all<Float16Numbers>(from, to);
}

void pair(const HalfPairing& pairing, const HalfPair& numbers, Half* to) {
  numbers.kind == StoredNumber::bf16 ? pair_all<PairedBfloat16>(pairing, numbers, to)
                                     : pair_all<PairedFloat16>(pairing, numbers, to);
}
#else
void write_halves_of(std::span<const float>, Half*, StoredNumber) {}
void write_floats_of(std::span<const Half>, float*, StoredNumber) {}
void pair(const HalfPairing&, const HalfPair&, Half*) {}
#endif

}  // namespace millrace::kernels
