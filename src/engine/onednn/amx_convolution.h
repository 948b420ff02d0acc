#pragma once
// Convolutions on the tile registers of AMX, for images with the channels inside. oneDNN's kernels
// for them read their weights again for every row; these read strips of the image, brought into the
// form of the tiles, which stay in the cache while all weights pass by once.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace millrace::engine::onednn {

/// How windows lie along the height or the width. In pixels.
struct WindowAxis {
  std::size_t input = 1, output = 1;
  std::size_t window = 1, stride = 1, dilation = 1;
  std::size_t pad = 0;  // before the first pixel
};

/// y = min(max(x < 0 ? slope * x : x, low), high)
struct Activation {
  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
};

/// A float32 number x is high + low, both bfloat16 numbers, with an error of at most 2^-17 |x|
/// (Henry, Tang, Heinecke 2019, "Leveraging the bfloat16 artificial intelligence datatype for
/// higher-precision computations"). A product of two such numbers without low times low takes three
/// products of bfloat16 numbers.
struct AmxConvolution {
  std::size_t images = 1, channels = 1, outputs = 1;
  WindowAxis height, width;
  bool split = true;  // factors are sums of two bfloat16 numbers, else one
  bool reads_bf16 = false, writes_bf16 = false;  // else float32
  bool adds = false;  // the result to what lies in its place; before the activation
  Activation activation = {};
};

/// Numbers of packed weights, and working memory in bytes.
std::size_t packed_count(const AmxConvolution& convolution);
std::size_t working_bytes(const AmxConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const AmxConvolution& convolution);

/// `weights`: row-major outputs, channels, height, width; `to`: packed_count() bfloat16 numbers.
void pack_weights(const AmxConvolution& convolution, std::span<const float> weights,
                  std::span<std::uint16_t> to);

struct AmxOperands {
  const std::byte* source = nullptr;
  const std::uint16_t* weights = nullptr;  // packed
  const float* bias = nullptr;             // by output; may be null
  std::byte* working = nullptr;            // aligned to 64 bytes
  std::byte* result = nullptr;
};
/// Runs on the calling thread and, in a ThreadScope with more cores, on its helpers. Precondition:
/// the processor has AMX for bfloat16, and the process may use it.
void convolve(const AmxConvolution& convolution, const AmxOperands& operands);

}  // namespace millrace::engine::onednn
