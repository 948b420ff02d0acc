#include "kernels/plain/planes.h"

#include "kernels/normalize.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

struct PlanePiece {
  const float* from;
  float* to;
  std::size_t first, last;
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_some_planes(const PlaneMap& map, const PlanePiece& piece) {
  const auto [from, to, first, last] = piece;
  for (std::size_t plane = first; plane < last; ++plane) {
    const std::size_t channel = plane % map.mean.size();
    const float mean = map.mean[channel], factor = map.factor[channel], shift = map.shift[channel];
    const float* const x = from + plane * map.size;
    float* const y = to + plane * map.size;
    if (map.relu) {
      for (std::size_t i = 0; i < map.size; ++i) {
        const float value = (x[i] - mean) * factor + shift;
        y[i] = value < 0.f ? 0.f : value;
      }
    } else {
      for (std::size_t i = 0; i < map.size; ++i) y[i] = (x[i] - mean) * factor + shift;
    }
  }
}

}  // namespace

std::vector<float> factors_of(std::span<const float> scale, std::span<const float> variance,
                              float epsilon) {
  std::vector<float> factors;
  write_factors(scale, variance, epsilon, factors);
  return factors;
}

void write_planes(const PlaneMap& map, const float* from, float* to) {
  in_pieces_of_rows(map.planes, map.size, [&](std::size_t first, std::size_t last) {
    write_some_planes(map, {from, to, first, last});
  });
}

}  // namespace millrace::kernels
