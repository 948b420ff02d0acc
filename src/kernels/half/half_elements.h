#pragma once
// Over dense tensors of float16 numbers. All run on the calling thread and its OpenMP helpers.
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

/// To the nearest, ties to even, and back. Precondition: as has_half_products() says, but for the
/// processor: all of 64-bit ARM will do.
void write_halves_of(std::span<const float> from, Half* to);
void write_floats_of(std::span<const Half> from, float* to);

enum class HalfPairs { sums, products };
/// What becomes of two numbers, clipped.
struct HalfPairing {
  HalfPairs pairs = HalfPairs::sums;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
/// Of equally many numbers, or of `b` once for each row of `a`, such as the channels of pixels:
/// `row` numbers, or 0 if there are no rows. `to` may be `a`. Precondition: has_half_products().
struct HalfPair {
  std::span<const Half> a;
  const Half* b = nullptr;
  std::size_t row = 0;
};
void pair(const HalfPairing& pairing, const HalfPair& numbers, Half* to);

}  // namespace millrace::kernels
