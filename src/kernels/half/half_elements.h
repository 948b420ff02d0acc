#pragma once
// Over dense tensors of float16 or bfloat16 numbers. All run on the calling thread and its OpenMP
// helpers. Precondition: has_half_products() for float16, has_bfloat_products() for bfloat16.
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

/// To the nearest, ties to even, and back. `kind`: f16 or bf16. For f16 all of 64-bit ARM will do.
void write_halves_of(std::span<const float> from, Half* to, StoredNumber kind = StoredNumber::f16);
void write_floats_of(std::span<const Half> from, float* to, StoredNumber kind = StoredNumber::f16);

enum class HalfPairs { sums, products };
/// What becomes of two numbers, clipped.
struct HalfPairing {
  HalfPairs pairs = HalfPairs::sums;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
/// Two lists of equally many numbers, or `b` for each row of `a`, such as the channels of pixels:
/// `row` numbers, or 0 if there are no rows. `to` may be `a`.
struct HalfPair {
  std::span<const Half> a;
  const Half* b = nullptr;
  std::size_t row = 0;
  StoredNumber kind = StoredNumber::f16;
};
void pair(const HalfPairing& pairing, const HalfPair& numbers, Half* to);

}  // namespace millrace::kernels
