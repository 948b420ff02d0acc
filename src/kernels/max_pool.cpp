#include "kernels/max_pool.h"

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

/// to[i] = the largest of from[i * step], from[i * step + apart] ... of `number` of them, changed
/// by Load before and by Store after, which is its own inverse. `more`: and of to[i] as it was.
/// Loops that compilers turn into vectors.
template <std::size_t number, std::size_t step, bool more, class Load, class Store, class Number>
[[gnu::always_inline]] inline void write_maxima(const Number* from, std::size_t apart,
                                                std::size_t count, Number* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number largest = more ? Store()(to[i]) : Load()(from[i * step]);
    for (std::size_t k = more ? 0 : 1; k < number; ++k) {
      const Number x = Load()(from[i * step + k * apart]);
      largest = x > largest ? x : largest;
    }
    to[i] = Store()(largest);
  }
}

/// Pieces of a window, whose places are `apart` from each other.
struct Reach {
  std::size_t number, apart;
};

/// Of any number of pieces: three, then two more at a time.
template <std::size_t step, class Load, class Store, class Number>
[[gnu::always_inline]] inline void write_largest(const Number* from, const Reach& window,
                                                 std::size_t count, Number* __restrict to) {
  const auto [number, apart] = window;
  if (number == 1) return write_maxima<1, step, false, Load, Store>(from, apart, count, to);
  if (number == 2) return write_maxima<2, step, false, Load, Store>(from, apart, count, to);
  write_maxima<3, step, false, Load, Store>(from, apart, count, to);
  for (std::size_t k = 3; k < number; k += 2)
    write_maxima<2, step, true, Load, Store>(from + std::min(k, number - 2) * apart, apart, count,
                                             to);
}

/// As many channels as oneDNN puts into a block for AVX2.
constexpr std::size_t usual_block = 8;

/// Some rows of the result.
template <class Change, class Number>
struct PooledRows {
  const MaxPool& pool;
  const Number* from;  // the first image
  Number* to;

  /// Rows are counted over all images.
  [[gnu::always_inline]] void write(std::size_t first, std::size_t last) const {
    const std::size_t line = pool.width.input * pool.channels;
    std::vector<Number> columns(line);
    for (std::size_t row = first; row < last; ++row) {
      const Number* const image = from + row / pool.height.output * pool.height.input * line;
      const Window window(pool.height, row % pool.height.output);
      write_largest<1, Change, AsItIs>(image + window.first * line, {window.number, line}, line,
                                       columns.data());
      write_row(columns.data(), to + row * pool.width.output * pool.channels);
    }
  }

 private:
  /// The pixels of a window along an axis, inside the image.
  struct Window {
    std::size_t first, number;
    Window(const PoolAxis& axis, std::size_t place) {
      const std::size_t begin = place * axis.stride;
      first = begin > axis.pad ? begin - axis.pad : 0;
      number = std::min(begin + axis.window - axis.pad, axis.input) - first;
    }
  };

  [[gnu::always_inline]] void write_row(const Number* columns, Number* row) const {
    if (pool.channels == usual_block) return write_windows<usual_block>(columns, row, 0);
    if (pool.channels != 1) return write_windows<0>(columns, row, 0);
    std::size_t done = 0;
    if (pool.width.stride == 1) done = write_whole_windows<1>(columns, row);
    if (pool.width.stride == 2) done = write_whole_windows<2>(columns, row);
    write_windows<1>(columns, row, done);
  }

  /// Those from `x` on one by one. `known`: the number of channels, or 0.
  template <std::size_t known>
  [[gnu::always_inline]] void write_windows(const Number* columns, Number* row,
                                            std::size_t x) const {
    const std::size_t size = known == 0 ? pool.channels : known;
    for (; x < pool.width.output; ++x) {
      const Window window(pool.width, x);
      write_largest<1, AsItIs, Change>(columns + window.first * size, {window.number, size}, size,
                                       row + x * size);
    }
  }

  /// Of one channel: windows up to the last one that ends inside the row, many side by side. Their
  /// number.
  template <std::size_t stride>
  [[gnu::always_inline]] std::size_t write_whole_windows(const Number* columns, Number* row) const {
    const PoolAxis& axis = pool.width;
    const std::size_t first = (axis.pad + stride - 1) / stride, padded = axis.input + axis.pad;
    if (padded < axis.window) return 0;
    const std::size_t last = std::min((padded - axis.window) / stride + 1, axis.output);
    if (last <= first) return 0;
    for (std::size_t x = 0; x < first; ++x) {
      const Window window(axis, x);
      write_largest<1, AsItIs, Change>(columns, {window.number, 1}, 1, row + x);
    }
    write_largest<stride, AsItIs, Change>(columns + first * stride - axis.pad, {axis.window, 1},
                                          last - first, row + first);
    return last;
  }
};

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<AsItIs, float>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<Ordered, std::int16_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<AsItIs, std::uint8_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target_clones("avx2", "default")]]
#endif
void write_pooled_rows(const PooledRows<AsItIs, std::int8_t>& rows, std::size_t first,
                       std::size_t last) {
  rows.write(first, last);
}

template <class Change, class Number>
void write_all(const MaxPool& pool, const Number* from, Number* to) {
  constexpr std::size_t piece = 32768;  // numbers read; enough work for a thread
  const std::size_t count = pool.images * pool.height.output;
  const std::size_t read = std::min(pool.height.window, pool.height.input) * pool.width.input *
                           std::max<std::size_t>(pool.channels, 1);
  const std::size_t each = std::max<std::size_t>(piece / std::max<std::size_t>(read, 1), 1);
  const auto pieces = static_cast<std::ptrdiff_t>((count + each - 1) / each);
  const PooledRows<Change, Number> rows{pool, from, to};
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < pieces; ++i) {
    const std::size_t first = static_cast<std::size_t>(i) * each;
    write_pooled_rows(rows, first, std::min(first + each, count));
  }
}

}  // namespace

void max_pool(const MaxPool& pool, const float* from, float* to) {
  write_all<AsItIs>(pool, from, to);
}

void max_pool(const MaxPool& pool, const std::int16_t* from, std::int16_t* to) {
  write_all<Ordered>(pool, from, to);
}

void max_pool(const MaxPool& pool, const std::uint8_t* from, std::uint8_t* to) {
  write_all<AsItIs>(pool, from, to);
}

void max_pool(const MaxPool& pool, const std::int8_t* from, std::int8_t* to) {
  write_all<AsItIs>(pool, from, to);
}

}  // namespace millrace::kernels
