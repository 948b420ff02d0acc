#include "network/evaluate/copy.h"

#include <algorithm>
#include <cstring>

namespace millrace::network::loops {
namespace {

constexpr std::int64_t tile = 16;

/// One or two innermost dimensions of a copy.
struct Rows {
  std::int64_t rows = 1, columns = 1;
  std::int64_t from_row = 0, from_column = 0;
  std::int64_t to_row = 0, to_column = 0;
};

template <std::size_t Size>
void copy_line(const Rows& r, const std::byte* from, std::byte* to) {
  constexpr auto size = static_cast<std::int64_t>(Size);
  for (std::int64_t c = 0; c < r.columns; ++c)
    std::memcpy(to + c * r.to_column * size, from + c * r.from_column * size, Size);
}

/// In tiles, so that lines of memory read for one row are still cached for the next.
template <std::size_t Size>
void copy_rows(const Rows& all, const std::byte* from, std::byte* to) {
  constexpr auto size = static_cast<std::int64_t>(Size);
  if (all.rows == 1) return copy_line<Size>(all, from, to);
  for (std::int64_t row = 0; row < all.rows; row += tile) {
    const std::int64_t end = std::min(row + tile, all.rows);
    for (std::int64_t column = 0; column < all.columns; column += tile) {
      Rows line = all;
      line.columns = std::min(tile, all.columns - column);
      for (std::int64_t r = row; r < end; ++r)
        copy_line<Size>(line, from + (r * all.from_row + column * all.from_column) * size,
                        to + (r * all.to_row + column * all.to_column) * size);
    }
  }
}

using RowsFunction = void (*)(const Rows&, const std::byte*, std::byte*);

RowsFunction rows_function(std::size_t element) {
  if (element == 1) return copy_rows<1>;
  if (element == 2) return copy_rows<2>;
  return element == 4 ? copy_rows<4> : copy_rows<8>;
}

void swap_dimensions(Copy& walk, std::size_t a, std::size_t b) {
  std::swap(walk.shape[a], walk.shape[b]);
  for (Shape& strides : walk.strides) std::swap(strides[a], strides[b]);
}

/// The order of dimensions is free in a copy: brings the one that is contiguous where it is read
/// beside the innermost, which is contiguous where it is written.
bool is_transposition(Copy& walk) {
  const std::size_t last = walk.rank() - 1;
  if (walk.strides[1][last] != 1) return false;
  for (std::size_t i = 0; i < last; ++i) {
    if (walk.strides[0][i] != 1) continue;
    swap_dimensions(walk, i, last - 1);
    return true;
  }
  return false;
}

void copy_blocks(const Copy& walk, const std::byte* from, std::byte* to, std::size_t element) {
  const auto size = static_cast<std::int64_t>(element);
  const auto bytes = static_cast<std::size_t>(walk.shape.back()) * element;
  for_each(walk, walk.rank() - 1, [&](const std::array<std::int64_t, 2>& at) {
    std::memcpy(to + at[1] * size, from + at[0] * size, bytes);
  });
}

}  // namespace

void copy(const Copy& walk, const std::byte* from, std::byte* to, std::size_t element) {
  Copy merged = collapsed(walk);
  const std::size_t last = merged.rank() - 1;
  if (merged.strides[0][last] == 1 && merged.strides[1][last] == 1)
    return copy_blocks(merged, from, to, element);

  const std::size_t inner = is_transposition(merged) ? 2 : 1;
  Rows rows{1, merged.shape[last], 0, merged.strides[0][last], 0, merged.strides[1][last]};
  if (inner == 2) {
    rows.rows = merged.shape[last - 1];
    rows.from_row = merged.strides[0][last - 1];
    rows.to_row = merged.strides[1][last - 1];
  }
  const auto size = static_cast<std::int64_t>(element);
  const RowsFunction copy_these = rows_function(element);
  for_each(merged, merged.rank() - inner, [&](const std::array<std::int64_t, 2>& at) {
    copy_these(rows, from + at[0] * size, to + at[1] * size);
  });
}

void fill(std::byte* to, std::int64_t count, const std::byte* value, std::size_t element) {
  const bool uniform =
      std::all_of(value, value + element, [&](std::byte byte) { return byte == *value; });
  const auto size = static_cast<std::int64_t>(element);
  if (uniform) {
    std::memset(to, std::to_integer<int>(*value), static_cast<std::size_t>(count * size));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * size, value, element);
}

}  // namespace millrace::network::loops
