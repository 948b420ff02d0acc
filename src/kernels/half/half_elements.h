#pragma once
// Over dense tensors of float16 numbers. All run on the calling thread and its OpenMP helpers.
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/half/half_convolution.h"

namespace millrace::kernels {

/// To the nearest, ties to even, and back. On 64-bit ARM only, but on all processors of it.
void write_halves_of(std::span<const float> from, Half* to);
void write_floats_of(std::span<const Half> from, float* to);

enum class HalfPairs { sums, products };
/// What becomes of two numbers, clipped.
struct HalfPairing {
  HalfPairs pairs = HalfPairs::sums;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};
/// `to` may be one of the others. Precondition: has_half_products().
void pair(const HalfPairing& pairing, std::span<const Half> a, const Half* b, Half* to);

}  // namespace millrace::kernels
