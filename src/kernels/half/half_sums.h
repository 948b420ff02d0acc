#pragma once
// Inside half_convolution.h: some rows, each the numbers under a pixel's windows, times a panel of
// weights.
#include <cstddef>

#include "kernels/half/half_panels.h"

#if defined(__aarch64__) && !defined(__clang__)
namespace millrace::kernels {

struct HalfRows {
  const Half* from;
  std::size_t from_stride;  // from row to row
  std::size_t depth;        // of the step
  std::size_t block;
  const Half* with;         // the panel, from the step on
  const float *scales, *bias;  // of the panel; bias: null: none, and more than this step
  float* kept;  // sums of the steps before, by row and output of the panel; null: only one step
  bool begins, ends;  // with this step
  Half* to;
  std::size_t to_stride;
  std::size_t outputs;  // of the panel that there are
  bool is_plain;        // they fill vectors, and sums are only clipped in the end,
  float low, high;      // to these
  const OwnConvolution* convolution;
};

/// So many rows of the panel, by pieces that registers hold.
void multiply(HalfRows rows, std::size_t count);
/// The same of bfloat16 numbers: all of a step is summed up in float32, and there are no scales.
void multiply_bfloats(HalfRows rows, std::size_t count);

/// Sums with their bias become results, at most 16, by whatever activation. `sums`: 8 or 16, which
/// change.
void finish_halves(const OwnConvolution& convolution, float* sums, Half* to, std::size_t count);

}  // namespace millrace::kernels
#endif
