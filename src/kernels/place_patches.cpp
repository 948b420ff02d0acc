#include "kernels/place_patches.h"

#include <algorithm>
#include <array>
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

/// Rows of the left factor that are multiplied at once, so that sums do not wait for each other.
constexpr std::size_t rows_at_once = 4;
constexpr std::size_t width = NarrowProduct::most_columns;

/// `to` has a row of `width` numbers for each of these rows. The sums are plain arrays of their
/// own: compilers keep them in registers then.
#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void multiply_rows(const float* from, std::size_t inner, const float* weights,
                   float* __restrict to) {
  float a[width] = {}, b[width] = {}, c[width] = {}, d[width] = {};
  for (std::size_t k = 0; k < inner; ++k) {
    const float* const row = weights + k * width;
    const float in_a = from[k], in_b = from[inner + k];
    const float in_c = from[2 * inner + k], in_d = from[3 * inner + k];
    for (std::size_t i = 0; i < width; ++i) {
      a[i] += in_a * row[i];
      b[i] += in_b * row[i];
      c[i] += in_c * row[i];
      d[i] += in_d * row[i];
    }
  }
  std::copy_n(a, width, to);
  std::copy_n(b, width, to + width);
  std::copy_n(c, width, to + 2 * width);
  std::copy_n(d, width, to + 3 * width);
}

}  // namespace

void place_patches(const Patches& patches, const float* from, float* to) {
  const std::size_t row_size = patches.columns * patches.channels;
  PatchRow row{std::vector<float>(row_size, 0.f), patches.activation};
  for (std::size_t i = 0; patches.bias != nullptr && i < row_size; ++i)
    row.bias[i] = patches.bias[i % patches.channels];
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

void multiply(const NarrowProduct& product, const float* from, float* to) {
  const auto blocks = static_cast<std::ptrdiff_t>(divided_up(product.rows, rows_at_once));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t block = 0; block < blocks; ++block) {
    const std::size_t last = product.rows - std::min(product.rows, rows_at_once);
    // The last block begins earlier and does some rows again.
    const std::size_t first = std::min(static_cast<std::size_t>(block) * rows_at_once, last);
    std::array<float, rows_at_once * width> sums;
    multiply_rows(from + first * product.inner, product.inner, product.weights.data(), sums.data());
    for (std::size_t row = 0; row < rows_at_once; ++row)
      std::copy_n(sums.data() + row * width, product.columns, to + (first + row) * product.columns);
  }
}

}  // namespace millrace::kernels
