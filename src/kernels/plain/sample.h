#pragma once
// Sums of a few numbers of a plane for each of many points, the same for all planes.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::kernels {

/// Places in the plane and their weights: those of all points' first taps, then of their second
/// ones.
struct SamplePoints {
  std::size_t count = 0, taps = 1;  // 1, 4 or 16
  std::vector<std::int32_t> places;
  std::vector<float> weights;
};

/// What becomes of the weighted numbers of a point: their sum, the sum with what lies there, or the
/// largest of them and of what lies there.
enum class Sampling { sum, add, largest };

struct SampledPlanes {
  std::size_t count = 1, size = 1;  // numbers of a plane
  const float* from = nullptr;
  float* to = nullptr;  // by plane: points.count numbers
};
/// Runs on the calling thread and its OpenMP helpers.
void sample_planes(const SamplePoints& points, Sampling sampling, const SampledPlanes& planes);

}  // namespace millrace::kernels
