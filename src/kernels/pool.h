#pragma once
// Maxima and averages over windows of images with the channels inside: first down the columns, then
// along the row, where oneDNN's kernels look at every number of every window.
#include <cstddef>
#include <cstdint>

namespace millrace::kernels {

/// How windows lie along the height or the width. In pixels.
struct PoolAxis {
  std::size_t input = 1, output = 1;
  std::size_t window = 1, stride = 1;
  std::size_t pad = 0;  // before the first pixel
};

/// The pixels of a window along an axis, inside the image.
struct PooledPixels {
  std::size_t first, number;
  PooledPixels(const PoolAxis& axis, std::size_t place) {
    const std::size_t begin = place * axis.stride;
    first = begin > axis.pad ? begin - axis.pad : 0;
    const std::size_t end = begin + axis.window - axis.pad;
    number = (end < axis.input ? end : axis.input) - first;
  }
};

/// An image whose channels lie outside counts as many images of one channel; one in blocks of
/// channels, as many images of a block. Precondition: each window has a pixel inside the image.
struct Pool {
  std::size_t images = 1, channels = 1;
  PoolAxis height, width;
  bool counts_padding = false;  // in averages: as zeros
};

/// Max pooling of dense images. Runs on the calling thread and its OpenMP helpers.
void max_pool(const Pool& pool, const float* from, float* to);
/// The same of bfloat16 or float16 numbers.
void max_pool(const Pool& pool, const std::int16_t* from, std::int16_t* to);
/// The same of integers.
void max_pool(const Pool& pool, const std::uint8_t* from, std::uint8_t* to);
void max_pool(const Pool& pool, const std::int8_t* from, std::int8_t* to);

/// Sums over windows, divided by their number of pixels.
void average_pool(const Pool& pool, const float* from, float* to);

}  // namespace millrace::kernels
