#pragma once
// Direct convolutions in float16 or bfloat16, with the channels inside, for processors of 64-bit
// ARM that calculate with such numbers. In float16 at most 64 products are summed up, and these
// sums in float32. An output's weights are divided by a power of two first, so that such a sum is
// no larger than the largest pixel: it cannot overflow. Products of bfloat16 numbers are summed up
// in float32.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// The bits of a float16 number, or of a bfloat16 one.
using Half = std::uint16_t;

/// Whether this processor calculates with float16 numbers in vectors of 16 bytes, and this build
/// has loops for that: those of clang have none.
bool has_half_products();
/// The same of bfloat16 numbers.
bool has_bfloat_products();

/// Source, result and what is added are bfloat16 if `source` says so, else float16; lanes do not
/// matter.
struct HalfConvolution : DirectConvolution {};

constexpr bool is_in_bfloats(const OwnConvolution& convolution) {
  return convolution.source == StoredNumber::bf16;
}

/// In bytes.
std::size_t packed_size(const HalfConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const HalfConvolution& convolution);

/// `weights`: row-major outputs, channels of a group, windows; `to`: packed_size() bytes.
void pack_weights(const HalfConvolution& convolution, std::span<const float> weights,
                  std::span<std::byte> to);

struct HalfOperands {
  const Half* source = nullptr;
  const std::byte* weights = nullptr;  // packed; aligned to 4 bytes
  const float* bias = nullptr;         // by output; may be null
  Half* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. Precondition:
/// has_half_products(), or has_bfloat_products() for such numbers.
void convolve(const HalfConvolution& convolution, const HalfOperands& operands);

}  // namespace millrace::kernels
