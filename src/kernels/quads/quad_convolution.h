#pragma once
// Convolutions of bytes without AVX-512, for images with the channels inside: the bytes under some
// pixels' windows are put side by side and multiplied with panels of weights. Nothing is rounded
// before all is added, and padding is the integer that stands for 0.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/own_convolution.h"
#include "kernels/quads/byte_unit.h"

namespace millrace::kernels {

// Limits of depthwise convolutions in loops of their own.
inline constexpr std::size_t most_depthwise_taps = 256;
inline constexpr std::size_t depthwise_bytes = 65'536;  // of lines of the image at once

/// The source has 8 bits; the result and what is added have 8 bits or are float32. Images may have
/// a depth too. A pad may be negative, as the number that wraps around. A window has at most 65,536
/// numbers.
struct QuadConvolution : OwnConvolution {
  WindowAxis depth = {};
  std::size_t groups = 1;  // channels and outputs count all of them
  ByteUnit unit = ByteUnit::neon;

  std::size_t taps() const { return depth.window * height.window * width.window; }
  std::size_t pixels() const { return images * depth.output * height.output * width.output; }
  std::size_t channels_of_group() const { return channels / groups; }
  std::size_t outputs_of_group() const { return outputs / groups; }
  /// Each channel has one output, which it alone makes, of not too large windows.
  bool is_depthwise() const {
    const std::size_t columns = (width.window - 1) * width.dilation + 1;
    const std::size_t under = 16 * columns * height.window * depth.window;  // of 16 channels
    return groups > 1 && groups == channels && groups == outputs &&
           taps() <= most_depthwise_taps && under <= depthwise_bytes;
  }
  /// How the unit counts: whether the sign bit of the source is turned, and what stands for 0 then.
  bool turns_signs() const {
    const bool is_signed =
        shape_of(unit).is_signed && !(is_depthwise() && unit == ByteUnit::avx2_signs);
    return is_signed != (source == StoredNumber::s8);
  }
  std::int32_t zero() const {
    if (!turns_signs()) return source_zero;
    return source_zero + (source == StoredNumber::s8 ? 128 : -128);
  }
};

/// In bytes.
std::size_t packed_size(const QuadConvolution& convolution);

/// The unit avx2, or avx2_signs where that multiplies such weights faster: as for pack_weights().
ByteUnit faster_unit(const QuadConvolution& convolution, std::span<const float> weights,
                     std::span<const float> factors);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const QuadConvolution& convolution);

/// `weights`: row-major outputs, channels of a group, windows; each is multiplied with its output's
/// factor first, if there are factors, and is then an integer in [-127, 127]. `to`: packed_size()
/// bytes.
void pack_weights(const QuadConvolution& convolution, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to);

/// Scales and bias have quad_padding numbers more than there are outputs.
inline constexpr std::size_t quad_padding = 16;
struct QuadOperands {
  const std::byte* source = nullptr;
  const std::byte* weights = nullptr;  // packed
  const float* scales = nullptr;       // of the sums, by output
  const float* bias = nullptr;         // of what they become, by output
  std::byte* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. Precondition: the
/// processor has the unit.
void convolve(const QuadConvolution& convolution, const QuadOperands& operands);

}  // namespace millrace::kernels
