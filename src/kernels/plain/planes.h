#pragma once
// Batch normalisation of images whose channels lie one behind the other.
#include <cstddef>
#include <span>
#include <vector>

namespace millrace::kernels {

/// Planes of `size` numbers, which belong to the channels in turn: (x - mean) * factor + shift.
struct PlaneMap {
  std::size_t planes = 1, size = 1;
  std::vector<float> mean, factor, shift;  // by channel
  bool relu = false;                       // then negative results become zero
};

/// scale / sqrt(variance + epsilon)
std::vector<float> factors_of(std::span<const float> scale, std::span<const float> variance,
                              float epsilon);

/// `to` may be `from`. Runs on the calling thread and its OpenMP helpers.
void write_planes(const PlaneMap& map, const float* from, float* to);

}  // namespace millrace::kernels
