#pragma once
// Images in another size: nearest pixels, or sums of neighbouring ones with weights.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::kernels {

/// How an axis of the result is made: each output is a sum of `taps` inputs with weights. Positions
/// and weights: those of all first taps, then those of all second ones.
struct AxisTaps {
  std::size_t outputs = 1, taps = 1;
  std::vector<std::int32_t> positions;
  std::vector<float> weights;
};

/// Resamples images whose pixels have `inner` numbers each, which lie side by side. With one tap
/// along both axes pixels are copied, whatever the weights.
struct Resampling {
  std::size_t images = 1, rows = 1, columns = 1, inner = 1;
  AxisTaps down, across;
};

/// First down the columns, then along the rows. Runs on the calling thread and its OpenMP helpers.
void resample(const Resampling& resampling, const float* from, float* to);

}  // namespace millrace::kernels
