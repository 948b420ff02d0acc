#include "kernels/pool.h"

#include <algorithm>
#include <vector>

namespace millrace::kernels {
namespace {

struct AsItIs {
  template <class Number>
  Number operator()(Number x) const {
    return x;
  }
};

/// From a floating-point number's bits to an integer with the same order, and back.
struct Ordered {
  std::int16_t operator()(std::int16_t x) const {
    return static_cast<std::int16_t>(x ^ ((x >> 15) & 0x7fff));
  }
};

struct Larger {
  template <class Number>
  Number operator()(Number a, Number b) const {
    return b > a ? b : a;
  }
};

struct Sum {
  float operator()(float a, float b) const { return a + b; }
};

/// Numbers are changed by Load before and by Store after, which is its own inverse.
template <class CombineOf, class LoadOf, class StoreOf>
struct Pass {
  using Combine = CombineOf;
  using Load = LoadOf;
  using Store = StoreOf;
};

/// to[i] = from[i * step], from[i * step + apart] ... combined, `number` of them. `more`: also with
/// to[i] as it was. Loops that compilers turn into vectors.
template <std::size_t number, std::size_t step, bool more, class How, class Number>
[[gnu::always_inline]] inline void combine(const Number* from, std::size_t apart, std::size_t count,
                                           Number* __restrict to) {
  const typename How::Load load;
  const typename How::Store store;
  for (std::size_t i = 0; i < count; ++i) {
    Number all = more ? store(to[i]) : load(from[i * step]);
    for (std::size_t k = more ? 0 : 1; k < number; ++k)
      all = typename How::Combine()(all, load(from[i * step + k * apart]));
    to[i] = store(all);
  }
}

/// Pieces of a window, whose places are `apart` from each other.
struct Reach {
  std::size_t number, apart;
};

/// Combines any number of pieces: three, then two more at a time.
template <std::size_t step, class How, class Number>
[[gnu::always_inline]] inline void combine(const Number* from, const Reach& window,
                                           std::size_t count, Number* __restrict to) {
  const auto [number, apart] = window;
  if (number == 1) return combine<1, step, false, How>(from, apart, count, to);
  if (number == 2) return combine<2, step, false, How>(from, apart, count, to);
  combine<3, step, false, How>(from, apart, count, to);
  std::size_t k = 3;
  for (; k + 2 <= number; k += 2) combine<2, step, true, How>(from + k * apart, apart, count, to);
  if (k < number) combine<1, step, true, How>(from + k * apart, apart, count, to);
}

/// As many channels as oneDNN puts into a block for AVX2.
constexpr std::size_t usual_block = 8;

/// Some rows of the result. Change is applied to what is read, and again to what is written.
template <class Combine, class Change, class Number>
struct PooledRows {
  const Pool& pool;
  const Number* from;  // the first image
  Number* to;

  /// Rows are counted over all images.
  [[gnu::always_inline]] void write(std::size_t first, std::size_t last) const {
    const std::size_t line = pool.width.input * pool.channels;
    std::vector<Number> columns(line);
    for (std::size_t row = first; row < last; ++row) {
      const Number* const image = from + row / pool.height.output * pool.height.input * line;
      const PooledPixels window(pool.height, row % pool.height.output);
      combine<1, Down>(image + window.first * line, {window.number, line}, line, columns.data());
      write_row(columns.data(), to + row * pool.width.output * pool.channels);
    }
  }

 private:
  using Down = Pass<Combine, Change, AsItIs>;
  using Along = Pass<Combine, AsItIs, Change>;

  [[gnu::always_inline]] void write_row(const Number* columns, Number* row) const {
    if (pool.channels == usual_block) return write_windows<usual_block>(columns, row, 0);
    if (pool.channels != 1) return write_windows<0>(columns, row, 0);
    std::size_t done = 0;
    if (pool.width.stride == 1) done = write_whole_windows<1>(columns, row);
    if (pool.width.stride == 2) done = write_whole_windows<2>(columns, row);
    write_windows<1>(columns, row, done);
  }

  /// Writes the windows from `x` on one by one. `known`: the number of channels, or 0.
  template <std::size_t known>
  [[gnu::always_inline]] void write_windows(const Number* columns, Number* row,
                                            std::size_t x) const {
    const std::size_t size = known == 0 ? pool.channels : known;
    for (; x < pool.width.output; ++x) {
      const PooledPixels window(pool.width, x);
      combine<1, Along>(columns + window.first * size, {window.number, size}, size, row + x * size);
    }
  }

  /// Writes windows of one channel, up to the last one that ends inside the row, many side by side.
  /// Returns their number.
  template <std::size_t stride>
  [[gnu::always_inline]] std::size_t write_whole_windows(const Number* columns, Number* row) const {
    const PoolAxis& axis = pool.width;
    const std::size_t first = (axis.pad + stride - 1) / stride, padded = axis.input + axis.pad;
    if (padded < axis.window) return 0;
    const std::size_t last = std::min((padded - axis.window) / stride + 1, axis.output);
    if (last <= first) return 0;
    for (std::size_t x = 0; x < first; ++x) {
      const PooledPixels window(axis, x);
      combine<1, Along>(columns, {window.number, 1}, 1, row + x);
    }
    combine<stride, Along>(columns + first * stride - axis.pad, {axis.window, 1}, last - first,
                           row + first);
    return last;
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<Larger, AsItIs, float>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<Larger, Ordered, std::int16_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<Larger, AsItIs, std::uint8_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<Larger, AsItIs, std::int8_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

/// How many pixels count, by place along an axis.
std::vector<float> counts_along(const PoolAxis& axis, bool counts_padding) {
  std::vector<float> counts;
  for (std::size_t place = 0; place < axis.output; ++place)
    counts.push_back(static_cast<float>(counts_padding ? axis.window
                                                       : PooledPixels(axis, place).number));
  return counts;
}

struct AveragedRows {
  PooledRows<Sum, AsItIs, float> sums;
  const std::vector<float>&across, &down;  // see counts_along()

  [[gnu::always_inline]] void write(std::size_t first, std::size_t last) const {
    sums.write(first, last);
    const std::size_t channels = sums.pool.channels;
    for (std::size_t row = first; row < last; ++row) {
      float* const to = sums.to + row * across.size() * channels;
      const float rows = down[row % down.size()];
      if (channels == 1)
        for (std::size_t x = 0; x < across.size(); ++x) to[x] /= across[x] * rows;
      else
        divide(rows, channels, to);
    }
  }

 private:
  [[gnu::always_inline]] void divide(float rows, std::size_t channels, float* to) const {
    for (std::size_t x = 0; x < across.size(); ++x) {
      const float count = across[x] * rows;
      for (std::size_t c = 0; c < channels; ++c) to[x * channels + c] /= count;
    }
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_averaged_rows(const AveragedRows& rows, std::size_t first, std::size_t last) {
  rows.write(first, last);
}

/// `write(first, last)` of parts of all rows of the result, by the thread and its helpers.
template <class Write>
void for_all_rows(const Pool& pool, const Write& write) {
  constexpr std::size_t piece = 32768;  // numbers read; enough work for a thread
  const std::size_t count = pool.images * pool.height.output;
  const std::size_t read =
      std::min(pool.height.window, pool.height.input) * pool.width.input * pool.channels;
  const std::size_t each = std::max<std::size_t>(piece / std::max<std::size_t>(read, 1), 1);
  const auto pieces = static_cast<std::ptrdiff_t>((count + each - 1) / each);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * each;
    write(first, std::min(first + each, count));
  }
}

template <class Change, class Number>
void write_maxima(const Pool& pool, const Number* from, Number* to) {
  for_all_rows(pool, [&](std::size_t first, std::size_t last) {
    write_pooled_rows(PooledRows<Larger, Change, Number>{pool, from, to}, first, last);
  });
}

}  // namespace

void max_pool(const Pool& pool, const float* from, float* to) {
  write_maxima<AsItIs>(pool, from, to);
}

void max_pool(const Pool& pool, const std::int16_t* from, std::int16_t* to) {
  write_maxima<Ordered>(pool, from, to);
}

void max_pool(const Pool& pool, const std::uint8_t* from, std::uint8_t* to) {
  write_maxima<AsItIs>(pool, from, to);
}

void max_pool(const Pool& pool, const std::int8_t* from, std::int8_t* to) {
  write_maxima<AsItIs>(pool, from, to);
}

void average_pool(const Pool& pool, const float* from, float* to) {
  const std::vector<float> across = counts_along(pool.width, pool.counts_padding);
  const std::vector<float> down = counts_along(pool.height, pool.counts_padding);
  const AveragedRows rows{{pool, from, to}, across, down};
  for_all_rows(
      pool, [&](std::size_t first, std::size_t last) { write_averaged_rows(rows, first, last); });
}

}  // namespace millrace::kernels
