#include "kernels/place_patches.h"

#include <algorithm>
#include <vector>

namespace millrace::kernels {
namespace {

/// One row of pixels of one patch.
struct PatchRow {
  std::vector<float> bias;  // by number of the row
  Activation activation;

#if defined(__x86_64__) && defined(__GNUC__)
  [[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
  void
  write(const float* from, float* __restrict to) const {
    for (std::size_t i = 0; i < bias.size(); ++i) {
      const float x = from[i] + bias[i];
      const float steep = activation.slope * x;  // outside of the choice, so that it is no branch
      const float sloped = x < 0 ? steep : x;
      const float raised = sloped < activation.low ? activation.low : sloped;
      to[i] = raised > activation.high ? activation.high : raised;
    }
  }
};

}  // namespace

void place_patches(const Patches& patches, const Activation& activation, const float* bias,
                   const float* from, float* to) {
  const std::size_t row_size = patches.columns * patches.channels;
  PatchRow row{std::vector<float>(row_size, 0.f), activation};
  for (std::size_t i = 0; bias != nullptr && i < row_size; ++i)
    row.bias[i] = bias[i % patches.channels];
  const auto lines = static_cast<std::ptrdiff_t>(patches.images * patches.height * patches.rows);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t line = 0; line < lines; ++line) {
    const std::size_t of_patches = static_cast<std::size_t>(line) / patches.rows;
    const std::size_t within = static_cast<std::size_t>(line) % patches.rows;
    for (std::size_t x = 0; x < patches.width; ++x) {
      const std::size_t patch = of_patches * patches.width + x;
      row.write(from + (patch * patches.rows + within) * row_size,
                to + (static_cast<std::size_t>(line) * patches.width + x) * row_size);
    }
  }
}

}  // namespace millrace::kernels
