#include "kernels/normalize.h"

#include <algorithm>
#include <cmath>

namespace millrace::kernels {
namespace {

struct Rows {
  const float* from;
  std::size_t from_stride;
  float* to;
  std::size_t count;
};

/// oneDNN rounds once per multiplication and addition where the processor can, else twice.
bool rounds_once() {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

template <bool relu, bool once>
[[gnu::always_inline]] inline void write_rows(const Rows& rows, const ChannelMap& map) {
  const std::size_t channels = map.mean.size();
  const float *const mean = map.mean.data(), *const factor = map.factor.data(),
                     *const shift = map.shift.data();
  for (std::size_t r = 0; r < rows.count; ++r) {
    const float* const from = rows.from + r * rows.from_stride;
    float* const to = rows.to + r * channels;
    for (std::size_t c = 0; c < channels; ++c) {
      const float x = from[c] - mean[c];
      const float y = once ? std::fma(x, factor[c], shift[c]) : x * factor[c] + shift[c];
      to[c] = relu && !(y > 0) ? 0.f : y;
    }
  }
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_part(const Rows& rows, const ChannelMap& map) {
  if (map.relu)
    write_rows<true, true>(rows, map);
  else
    write_rows<false, true>(rows, map);
}

void write_part_twice_rounded(const Rows& rows, const ChannelMap& map) {
  if (map.relu)
    write_rows<true, false>(rows, map);
  else
    write_rows<false, false>(rows, map);
}

}  // namespace

void write_factors(std::span<const float> scale, std::span<const float> variance, float epsilon,
                   std::vector<float>& factors) {
  factors.resize(scale.size());
  for (std::size_t c = 0; c < scale.size(); ++c)
    factors[c] = scale[c] / std::sqrt(variance[c] + epsilon);
}

void normalize(const float* from, std::size_t from_stride, const ChannelMap& map,
               std::span<float> to) {
  constexpr std::size_t piece = 16384;  // numbers; enough work for a thread
  const std::size_t channels = map.mean.size();
  const std::size_t all = channels == 0 ? 0 : to.size() / channels;
  const std::size_t rows = std::max(piece / std::max<std::size_t>(channels, 1), std::size_t{1});
  const auto write = rounds_once() ? write_part : write_part_twice_rounded;
  const auto pieces = static_cast<std::ptrdiff_t>((all + rows - 1) / rows);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * rows;
    write({from + first * from_stride, from_stride, to.data() + first * channels,
           std::min(rows, all - first)},
          map);
  }
}

}  // namespace millrace::kernels
