#include "kernels/place_patches.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/bend.h"
#include "kernels/plain/lanes.h"

namespace millrace::kernels {
namespace {

/// Rows of pixels of patches.
struct PatchRow {
  std::vector<float> bias;  // by number of the row
  Activation activation;
};

/// A row of pixels of the result: those of patches that lie `apart` numbers from each other.
struct PatchLine {
  const PatchRow& row;
  const float* from;
  std::size_t apart, count;
  float* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    using Vector = typename LanesOf<lanes>::Type;
    const std::size_t size = row.bias.size();
    if (size < lanes) return run_one_by_one();
    for (std::size_t x = 0; x < count; ++x, from += apart, to += size)
      for_each_vector<lanes>(
          size, [&](std::size_t i, std::size_t some) __attribute__((always_inline)) {
            Vector sum{}, bias{};
            read_first(sum, from + i, some);
            read_first(bias, row.bias.data() + i, some);
            sum += bias;
            bend(sum, row.activation);
            write_first(to + i, sum, some);
          });
  }

 private:
  /// Short rows are no vectors.
  void run_one_by_one() {
    const std::size_t size = row.bias.size();
    for (std::size_t x = 0; x < count; ++x, from += apart, to += size)
      for (std::size_t i = 0; i < size; ++i) {
        float sum = from[i] + row.bias[i];
        bend(sum, row.activation);
        to[i] = sum;
      }
  }
};

/// Numbers of a and b in turns, from a place on.
template <std::size_t first, class Vector, std::size_t... i>
[[gnu::always_inline]] inline Vector zipped(const Vector& a, const Vector& b,
                                            std::index_sequence<i...>) {
  return __builtin_shufflevector(a, b, (first + i / 2 + i % 2 * sizeof...(i))...);
}

/// A row of pixels of the result, of `count` patches that have a plane for each of their numbers.
struct PlaneLine {
  const PatchRow& row;
  const float* from;
  std::size_t plane, count;
  float* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    const std::size_t size = row.bias.size();
    std::size_t done = 0;
    if (size == 2) done = interleave_two<lanes>();
    if (size == 4) done = interleave_four<lanes>();
    for (std::size_t i = 0; i < size; ++i)
      for_each_vector<lanes>(
          count - done, [&](std::size_t x, std::size_t some) __attribute__((always_inline)) {
            typename LanesOf<lanes>::Type numbers{};
            read_first(numbers, from + i * plane + done + x, some);
            finish(numbers, i);
            if (size == 1) return write_first(to + x, numbers, some);
            float* const pixel = to + (done + x) * size + i;
            for (std::size_t j = 0; j < some; ++j) pixel[j * size] = numbers[j];
          });
  }

 private:
  template <class Vector>
  [[gnu::always_inline]] void finish(Vector& numbers, std::size_t i) const {
    numbers += row.bias[i];
    bend(numbers, row.activation);
  }
  template <std::size_t lanes>
  [[gnu::always_inline]] void read(typename LanesOf<lanes>::Type& numbers, std::size_t i,
                                   std::size_t x) const {
    read_lanes(numbers, from + i * plane + x);
    finish(numbers, i);
  }

  /// Both: how many patches are done.
  template <std::size_t lanes>
  [[gnu::always_inline]] std::size_t interleave_two() const {
    using Vector = typename LanesOf<lanes>::Type;
    constexpr std::make_index_sequence<lanes> all;
    std::size_t x = 0;
    for (; x + lanes <= count; x += lanes) {
      Vector a, b;
      read<lanes>(a, 0, x);
      read<lanes>(b, 1, x);
      const Vector first = zipped<0>(a, b, all), second = zipped<lanes / 2>(a, b, all);
      __builtin_memcpy(to + 2 * x, &first, sizeof first);
      __builtin_memcpy(to + 2 * x + lanes, &second, sizeof second);
    }
    return x;
  }
  template <std::size_t lanes>
  [[gnu::always_inline]] std::size_t interleave_four() const {
    using Vector = typename LanesOf<lanes>::Type;
    constexpr std::make_index_sequence<lanes> all;
    std::size_t x = 0;
    for (; x + lanes <= count; x += lanes) {
      Vector a, b, c, d;
      read<lanes>(a, 0, x);
      read<lanes>(b, 1, x);
      read<lanes>(c, 2, x);
      read<lanes>(d, 3, x);
      const Vector ac = zipped<0>(a, c, all), bd = zipped<0>(b, d, all);
      const Vector other_ac = zipped<lanes / 2>(a, c, all), other_bd = zipped<lanes / 2>(b, d, all);
      const Vector parts[4] = {zipped<0>(ac, bd, all), zipped<lanes / 2>(ac, bd, all),
                               zipped<0>(other_ac, other_bd, all),
                               zipped<lanes / 2>(other_ac, other_bd, all)};
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i)
        __builtin_memcpy(to + 4 * x + i * lanes, &parts[i], sizeof parts[i]);
    }
    return x;
  }
};

PatchRow row_of(const Patches& patches) {
  PatchRow row{std::vector<float>(patches.columns * patches.channels, 0.f), patches.activation};
  for (std::size_t i = 0; patches.bias != nullptr && i < row.bias.size(); ++i)
    row.bias[i] = patches.bias[i % patches.channels];
  return row;
}

/// Every row of pixels of the result, the row of patches that it is of, and its number in these. By
/// OpenMP's threads.
template <class PlaceLine>
void for_each_line(const Patches& patches, const PlaceLine& place) {
  const auto lines = static_cast<std::ptrdiff_t>(patches.images * patches.height * patches.rows);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t line = 0; line < lines; ++line) {
    const auto number = static_cast<std::size_t>(line);
    place(number, number / patches.rows, number % patches.rows);
  }
}

/// Rows of the left factor that are multiplied at once, so that sums do not wait for each other.
constexpr std::size_t rows_at_once = 4;
constexpr std::size_t width = NarrowProduct::most_columns;

/// `to` has a row of `width` numbers for each of these rows. The sums are plain arrays of their
/// own: compilers keep them in registers then.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("avx512f", "arch=x86-64-v3", "default")]]
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

/// Pixels that follow each other, of all channels.
struct PixelStrip {
  const float* from;
  std::size_t plane;  // numbers from one channel to the next, of both
  const NarrowProduct* product;
  float* to;
};

std::size_t pixels_at_once(const NarrowProduct& product) {
  return product.columns <= 4 ? 4 * lane_count : product.columns <= 8 ? 2 * lane_count : lane_count;
}

/// Some pixels of some columns, whose sums the registers hold.
template <std::size_t lanes, std::size_t columns, std::size_t vectors>
[[gnu::always_inline]] inline void multiply_pixels(const PixelStrip& strip, std::size_t first) {
  using Vector = typename LanesOf<lanes>::Type;
  Vector sums[columns][vectors] = {};
  const float* weights = strip.product->weights.data() + first;
  const float* from = strip.from;
  for (std::size_t k = 0; k < strip.product->inner; ++k, from += strip.plane, weights += width)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      Vector in;
      read_lanes(in, from + v * lanes);
#pragma GCC unroll 16
      for (std::size_t c = 0; c < columns; ++c) sums[c][v] += weights[c] * in;
    }
  float* to = strip.to + first * strip.plane;
#pragma GCC unroll 16
  for (std::size_t c = 0; c < columns; ++c, to += strip.plane)
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v)
      if (first + c < strip.product->columns)
        __builtin_memcpy(to + v * lanes, &sums[c][v], sizeof sums[c][v]);
}

struct StripProduct {
  PixelStrip strip;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() {
    constexpr std::size_t most = lanes == lane_count ? 16 : 8;  // sums
    if (strip.product->columns <= 4) return multiply_all<lanes, 4, most / 4>();
    if (strip.product->columns <= 8) return multiply_all<lanes, 8, most / 8>();
    multiply_all<lanes, most, 1>();
  }

 private:
  template <std::size_t lanes, std::size_t columns, std::size_t vectors>
  [[gnu::always_inline]] void multiply_all() {
    const std::size_t pixels = pixels_at_once(*strip.product);
    for (std::size_t done = 0; done < pixels; done += lanes * vectors) {
      for (std::size_t c = 0; c < strip.product->columns; c += columns)
        multiply_pixels<lanes, columns, vectors>(strip, c);
      strip.from += lanes * vectors;
      strip.to += lanes * vectors;
    }
  }
};

}  // namespace

void place_patches(const Patches& patches, const float* from, float* to) {
  const PatchRow row = row_of(patches);
  const std::size_t size = row.bias.size(), apart = patches.rows * size;
  for_each_line(patches, [&](std::size_t line, std::size_t of_patches, std::size_t within) {
    run_in_lanes(PatchLine{row, from + of_patches * patches.width * apart + within * size, apart,
                           patches.width, to + line * patches.width * size});
  });
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

void multiply_planes(const NarrowProduct& product, std::size_t images, const float* from,
                     float* to) {
  const std::size_t pixels = product.rows / images, at_once = pixels_at_once(product);
  const std::size_t strips = divided_up(pixels, at_once);
  const auto all = static_cast<std::ptrdiff_t>(images * strips);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t strip = 0; strip < all; ++strip) {
    const std::size_t image = static_cast<std::size_t>(strip) / strips;
    // The last strip begins earlier and does some pixels again.
    const std::size_t first =
        std::min(static_cast<std::size_t>(strip) % strips * at_once, pixels - at_once);
    run_in_lanes(StripProduct{{from + image * product.inner * pixels + first, pixels, &product,
                               to + image * product.columns * pixels + first}});
  }
}

void place_planes(const Patches& patches, const float* from, float* to) {
  const PatchRow row = row_of(patches);
  const std::size_t row_size = row.bias.size(), plane = patches.height * patches.width;
  for_each_line(patches, [&](std::size_t line, std::size_t of_patches, std::size_t within) {
    const std::size_t image = of_patches / patches.height, y = of_patches % patches.height;
    run_in_lanes(PlaneLine{
        row, from + (image * patches.rows + within) * row_size * plane + y * patches.width, plane,
        patches.width, to + line * patches.width * row_size});
  });
}

}  // namespace millrace::kernels
