#pragma once
// Direct convolutions whose factors are integers of 16 or 8 bits, multiplied two or four at once in
// each lane of a vector, for images with the channels inside. In bfloat16 and float16: processors
// do two to four times as many products of 16-bit integers as of such numbers, unless they have
// tiles for those. The pixels that are computed at once are scaled by their largest magnitude, the
// weights of an output so that no sum can leave 32 bits: as integers.h says. In int8 nothing is
// rounded, and padding is the integer that stands for 0.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "kernels/own_convolution.h"

namespace millrace::kernels {

/// With a bfloat16 or float16 source, result and what is added are such too, and where a pixel is
/// infinite, none, or beyond 1e36, all results that are computed at once with its own are no
/// numbers. With a source of 8 bits, a window has at most 65,536 numbers.
struct IntegerConvolution : OwnConvolution {};

/// What lies where: of some results that follow each other, the panel, the numbers of their windows
/// as integers while all weights pass by once. Windows that overlap lie so too: those of a strip,
/// up to as many results of a row as registers hold. Others lie one behind the other, each a strip.
struct IntegerPanels {
  explicit IntegerPanels(const IntegerConvolution& convolution);

  std::size_t in_place = 2;    // numbers that lie side by side in 32 bits, a place
  std::size_t run = 1;         // numbers that follow each other in the image and in a window
  bool folded = false;         // a run is a row of the window, not a pixel
  std::size_t runs = 1;        // of a window
  std::size_t run_places = 1;  // the last one perhaps with numbers behind the run
  bool direct = false;         // the image itself is the panel: windows of one pixel of bytes
  bool overlap = false;        // windows of a strip
  std::size_t row_strips = 1;  // in a row of results
  std::size_t strip = 1;       // windows at most
  std::size_t window_apart = 0, run_apart = 0, strip_apart = 0;  // bytes
  std::size_t count = 1;                                         // strips of all images
  std::size_t panel = 1;                                         // strips that are computed at once
  std::size_t outputs = 1;                                       // blocks of 32 of them
  std::size_t summed = 0;   // numbers whose products are summed up as integers
  std::size_t factors = 0;  // of windows: where they begin in the working memory, bytes
  std::size_t working = 0;  // bytes of the working memory
  std::size_t scales = 0;   // behind the weights, by output: bytes; of 8 bits shifts
  float largest = 0;        // 16-bit integer that pixels become
  std::int32_t zero = 0;    // of 8 bits without a sign: the integer that stands for 0

  /// Places of a window.
  std::size_t places() const { return runs * run_places; }
};

/// In bytes.
std::size_t packed_size(const IntegerConvolution& convolution);

/// Convolutions with the same text have the same packed weights.
std::string form_of_weights(const IntegerConvolution& convolution);

/// `weights`: row-major outputs, channels, height, width; `to`: packed_size() bytes. Of a source of
/// 8 bits each weight is multiplied with its output's factor first.
void pack_weights(const IntegerConvolution& convolution, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to);

struct IntegerOperands {
  const std::byte* source = nullptr;
  const std::byte* weights = nullptr;  // packed
  const float* bias = nullptr;         // by output; may be null
  const float* scales = nullptr;       // of 8 bits, by output: of the sums, before the bias
  std::byte* working = nullptr;        // aligned to 64 bytes
  std::byte* result = nullptr;
};

/// Runs on the calling thread and its OpenMP helpers; allocates nothing. `panels`: of this
/// convolution. Precondition: the processor has AVX-512 with VNNI, and for bfloat16 its
/// instructions.
void convolve(const IntegerConvolution& convolution, const IntegerPanels& panels,
              const IntegerOperands& operands);

}  // namespace millrace::kernels
