#pragma once
// Convolutions on the tile registers of AMX, for images with the channels inside. oneDNN's kernels
// for them read their weights again for every row; these read strips of the image, brought into the
// form of the tiles, which stay in the cache while all weights pass by once: convolve() in
// amx_strip.h.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// What is multiplied. `split`: float32 numbers x = high + low, both bfloat16 numbers, with an
/// error of at most 2^-17 |x| (Henry, Tang, Heinecke 2019, "Leveraging the bfloat16 artificial
/// intelligence datatype for higher-precision computations"); a product without low times low takes
/// three products of bfloat16 numbers. `int8`: weights with a sign, a source with or without.
enum class AmxFactors { split, bf16, int8 };

/// The source is f32; for bf16 also bf16; for int8 u8 or s8.
struct AmxConvolution : OwnConvolution {
  AmxFactors factors = AmxFactors::split;
};

/// In bytes.
std::size_t packed_size(const AmxConvolution& convolution);
std::size_t working_size(const AmxConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const AmxConvolution& convolution);

/// `weights`: row-major outputs, channels, height, width; `to`: packed_size() bytes. For int8 each
/// weight is multiplied with its output's factor first.
void pack_weights(const AmxConvolution& convolution, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to);

struct AmxOperands {
  const std::byte* source = nullptr;
  const std::byte* weights = nullptr;  // packed
  const float* bias = nullptr;         // by output; may be null
  const float* scales = nullptr;       // of int8, by output: of the sums, before the bias
  std::byte* working = nullptr;        // aligned to 64 bytes
  std::byte* result = nullptr;
};

}  // namespace millrace::kernels
