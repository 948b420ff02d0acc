#include "kernels/plain/sample.h"

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

template <std::size_t taps, Sampling sampling>
[[gnu::always_inline]] inline void sample_points(const SamplePoints& points, const float* from,
                                                 float* __restrict to) {
  const std::size_t count = points.count;
  const std::int32_t* const places = points.places.data();
  const float* const weights = points.weights.data();
  for (std::size_t p = 0; p < count; ++p) {
    float value = weights[p] * from[places[p]];
    for (std::size_t tap = 1; tap < taps; ++tap) {
      const float next = weights[tap * count + p] * from[places[tap * count + p]];
      if constexpr (sampling == Sampling::largest)
        value = next > value ? next : value;
      else
        value += next;
    }
    if constexpr (sampling == Sampling::sum) to[p] = value;
    if constexpr (sampling == Sampling::add) to[p] += value;
    if constexpr (sampling == Sampling::largest) to[p] = value > to[p] ? value : to[p];
  }
}

template <std::size_t taps>
[[gnu::always_inline]] inline void sample_with(const SamplePoints& points, Sampling sampling,
                                               const float* from, float* to) {
  if (sampling == Sampling::sum)
    sample_points<taps, Sampling::sum>(points, from, to);
  else if (sampling == Sampling::add)
    sample_points<taps, Sampling::add>(points, from, to);
  else
    sample_points<taps, Sampling::largest>(points, from, to);
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void sample_plane(const SamplePoints& points, Sampling sampling, const float* from, float* to) {
  if (points.taps == 1)
    sample_with<1>(points, sampling, from, to);
  else if (points.taps == 4)
    sample_with<4>(points, sampling, from, to);
  else
    sample_with<16>(points, sampling, from, to);
}

}  // namespace

void sample_planes(const SamplePoints& points, Sampling sampling, const SampledPlanes& planes) {
  const auto sample = [&](std::size_t first, std::size_t last) {
    for (std::size_t plane = first; plane < last; ++plane)
      sample_plane(points, sampling, planes.from + plane * planes.size,
                   planes.to + plane * points.count);
  };
  in_pieces_of_rows(planes.count, points.count * points.taps, sample);
}

}  // namespace millrace::kernels
