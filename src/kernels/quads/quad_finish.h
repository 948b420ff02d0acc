#pragma once
// Inside quad_convolution.h: what becomes of sums.
#include <cstddef>
#include <cstdint>

#include "kernels/quads/quad_convolution.h"

namespace millrace::kernels {

/// Rows of sums, one for each pixel, of outputs that follow each other.
struct QuadRows {
  const QuadConvolution& convolution;
  const std::int32_t* sums;  // whole sixteens can be read from each row
  std::size_t sum_apart;
  const float *scales, *bias;  // of the first output
  std::byte* to;               // of the first pixel and output
  std::size_t rows, outputs;
};
void finish(const QuadRows& rows);

}  // namespace millrace::kernels
