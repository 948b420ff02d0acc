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

/// to[i] = the largest of from[i], from[i + apart] ... of `number` of them, changed by `load`
/// before and by `store` after. In loops that compilers turn into vectors.
template <std::size_t number, class Load, class Store, class Number>
[[gnu::always_inline]] inline void write_maxima(const Number* from, std::size_t apart,
                                                std::size_t count, Number* __restrict to) {
  for (std::size_t i = 0; i < count; ++i) {
    Number largest = Load()(from[i]);
    for (std::size_t k = 1; k < number; ++k) {
      const Number x = Load()(from[k * apart + i]);
      largest = x > largest ? x : largest;
    }
    to[i] = Store()(largest);
  }
}

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
      write_window<Change, AsItIs>(Window(pool.height, row % pool.height.output), image, line,
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
    for (std::size_t x = 0; x < pool.width.output; ++x)
      write_window<AsItIs, Change>(Window(pool.width, x), columns, pool.channels,
                                   row + x * pool.channels);
  }

  /// Of pieces of `size` numbers, one behind the other.
  template <class Load, class Store>
  [[gnu::always_inline]] static void write_window(const Window& window, const Number* pieces,
                                                  std::size_t size, Number* result) {
    pieces += window.first * size;
    if (window.number == 1)
      write_maxima<1, Load, Store>(pieces, size, size, result);
    else if (window.number == 2)
      write_maxima<2, Load, Store>(pieces, size, size, result);
    else
      write_maxima<3, Load, Store>(pieces, size, size, result);
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
  constexpr std::size_t piece = 16384;  // numbers; enough work for a thread
  const std::size_t count = pool.images * pool.height.output;
  const std::size_t line = std::max<std::size_t>(pool.width.output * pool.channels, 1);
  const std::size_t each = std::max<std::size_t>(piece / line, 1);
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
