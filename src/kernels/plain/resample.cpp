#include "kernels/plain/resample.h"

#include <algorithm>

#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

bool doubles_numbers(const AxisTaps& axis) {
  bool doubles = axis.taps == 1 && axis.outputs % 2 == 0;
  for (std::size_t i = 0; i < axis.outputs && doubles; ++i)
    doubles = static_cast<std::size_t>(axis.positions[i]) == i / 2;
  return doubles;
}

/// Along one row; `line` has all columns of the input.
struct ResampledRow {
  const Resampling& resampling;
  const float* line;
  float* __restrict to;
  bool doubles;  // each number twice

  template <std::size_t taps>
  [[gnu::always_inline]] void write() const {
    if (resampling.inner == 1)
      write_numbers<taps>();
    else
      write_pixels<taps>();
  }

  /// Writes a row with however many taps.
  [[gnu::always_inline]] void write_any() const {
    const AxisTaps& across = resampling.across;
    const std::size_t inner = resampling.inner;
    for (std::size_t x = 0; x < across.outputs; ++x) {
      float* __restrict const pixel = to + x * inner;
      std::fill_n(pixel, inner, 0.f);
      for (std::size_t i = x; i < across.positions.size(); i += across.outputs) {
        const float weight = across.weights[i];
        const float* const from = line + static_cast<std::size_t>(across.positions[i]) * inner;
        for (std::size_t n = 0; n < inner; ++n) pixel[n] += weight * from[n];
      }
    }
  }

 private:
  template <std::size_t taps>
  [[gnu::always_inline]] void write_numbers() const {
    const AxisTaps& across = resampling.across;
    const std::size_t count = across.outputs;
    const std::int32_t* const at = across.positions.data();
    const float* const weights = across.weights.data();
    if (taps == 1 && doubles) {
      for (std::size_t x = 0; x < count / 2; ++x) to[2 * x] = to[2 * x + 1] = line[x];
      return;
    }
    for (std::size_t x = 0; x < count; ++x) {
      if constexpr (taps == 1) {
        to[x] = line[at[x]];
      } else {
        float sum = weights[x] * line[at[x]];
        for (std::size_t tap = 1; tap < taps; ++tap)
          sum += weights[tap * count + x] * line[at[tap * count + x]];
        to[x] = sum;
      }
    }
  }

  template <std::size_t taps>
  [[gnu::always_inline]] void write_pixels() const {
    const AxisTaps& across = resampling.across;
    const std::size_t inner = resampling.inner;
    for (std::size_t x = 0; x < across.outputs; ++x) {
      const float* pixels[taps];
      float weights[taps];
      for (std::size_t tap = 0; tap < taps; ++tap) {
        const std::size_t i = tap * across.outputs + x;
        pixels[tap] = line + static_cast<std::size_t>(across.positions[i]) * inner;
        weights[tap] = across.weights[i];
      }
      write_pixel<taps>(pixels, weights, to + x * inner);
    }
  }

  template <std::size_t taps>
  [[gnu::always_inline]] void write_pixel(const float* const* pixels, const float* weights,
                                          float* pixel) const {
    const std::size_t inner = resampling.inner;
    if constexpr (taps == 1) {
      std::copy_n(pixels[0], inner, pixel);
    } else if constexpr (taps == 2) {
      const float a = weights[0], b = weights[1];
      for (std::size_t i = 0; i < inner; ++i) pixel[i] = a * pixels[0][i] + b * pixels[1][i];
    } else {
      const float a = weights[0], b = weights[1], c = weights[2], d = weights[3];
      for (std::size_t i = 0; i < inner; ++i)
        pixel[i] = a * pixels[0][i] + b * pixels[1][i] + c * pixels[2][i] + d * pixels[3][i];
    }
  }
};

/// Some rows of the result, counted over all images.
struct ResampledRows {
  const Resampling& resampling;
  const float* from;
  float* to;

  [[gnu::always_inline]] void write(std::size_t first, std::size_t last) const {
    const AxisTaps& down = resampling.down;
    const std::size_t width = resampling.columns * resampling.inner;
    const std::size_t out = resampling.across.outputs * resampling.inner;
    const bool doubles = doubles_numbers(resampling.across);
    std::vector<float> sums(down.taps > 1 ? width : 0);
    for (std::size_t row = first; row < last; ++row) {
      const std::size_t y = row % down.outputs;
      if (row > first && y > 0 && is_as_before(y)) {
        std::copy_n(to + (row - 1) * out, out, to + row * out);
        continue;
      }
      const float* const image = from + row / down.outputs * resampling.rows * width;
      const float* line = image + static_cast<std::size_t>(down.positions[y]) * width;
      if (down.taps > 1) {
        add_rows(image, y, sums.data());
        line = sums.data();
      }
      write_row({resampling, line, to + row * out, doubles});
    }
  }

 private:
  bool is_as_before(std::size_t y) const {
    const AxisTaps& down = resampling.down;
    for (std::size_t tap = 0; tap < down.taps; ++tap) {
      const std::size_t i = tap * down.outputs + y;
      if (down.positions[i] != down.positions[i - 1] || down.weights[i] != down.weights[i - 1])
        return false;
    }
    return true;
  }

  [[gnu::always_inline]] void add_rows(const float* image, std::size_t y, float* sums) const {
    const AxisTaps& down = resampling.down;
    const std::size_t width = resampling.columns * resampling.inner;
    for (std::size_t tap = 0; tap < down.taps; ++tap) {
      const std::size_t i = tap * down.outputs + y;
      const float weight = down.weights[i];
      const float* const row = image + static_cast<std::size_t>(down.positions[i]) * width;
      if (tap == 0)
        for (std::size_t x = 0; x < width; ++x) sums[x] = weight * row[x];
      else
        for (std::size_t x = 0; x < width; ++x) sums[x] += weight * row[x];
    }
  }

  [[gnu::always_inline]] static void write_row(const ResampledRow& row) {
    const std::size_t taps = row.resampling.across.taps;
    if (taps == 1)
      row.write<1>();
    else if (taps == 2)
      row.write<2>();
    else if (taps == 4)
      row.write<4>();
    else
      row.write_any();
  }
};

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
#endif
void write_resampled_rows(const ResampledRows& rows, std::size_t first, std::size_t last) {
  rows.write(first, last);
}

}  // namespace

void resample(const Resampling& resampling, const float* from, float* to) {
  const ResampledRows rows{resampling, from, to};
  in_pieces_of_rows(
      resampling.images * resampling.down.outputs, resampling.across.outputs * resampling.inner,
      [&](std::size_t first, std::size_t last) { write_resampled_rows(rows, first, last); });
}

}  // namespace millrace::kernels
