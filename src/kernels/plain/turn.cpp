#include "kernels/plain/turn.h"

#include <algorithm>
#include <cstring>

#include "kernels/plain/lanes.h"
#include "kernels/plain/pieces.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t square = 8;

using SquareRow = LanesOf<square>::Type;

/// Every other number, pair or four of both go to one of the two.
[[gnu::always_inline]] inline void mix_numbers(SquareRow& a, SquareRow& b) {
  const SquareRow low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  b = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  a = low;
}
[[gnu::always_inline]] inline void mix_pairs(SquareRow& a, SquareRow& b) {
  const SquareRow low = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
  b = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  a = low;
}
[[gnu::always_inline]] inline void mix_fours(SquareRow& a, SquareRow& b) {
  const SquareRow low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
  b = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
  a = low;
}

[[gnu::always_inline]] inline SquareRow read_row(const float* from) {
  SquareRow row;
  __builtin_memcpy(&row, from, sizeof row);
  return row;
}
[[gnu::always_inline]] inline void write_row(const SquareRow& row, float* to) {
  __builtin_memcpy(to, &row, sizeof row);
}

/// Eight rows of eight numbers become columns.
[[gnu::always_inline]] inline void turn_square(const float* from, std::size_t from_apart, float* to,
                                               std::size_t to_apart) {
  SquareRow a = read_row(from), b = read_row(from + from_apart),
            c = read_row(from + 2 * from_apart), d = read_row(from + 3 * from_apart),
            e = read_row(from + 4 * from_apart), f = read_row(from + 5 * from_apart),
            g = read_row(from + 6 * from_apart), h = read_row(from + 7 * from_apart);
  mix_numbers(a, b), mix_numbers(c, d), mix_numbers(e, f), mix_numbers(g, h);
  mix_pairs(a, c), mix_pairs(b, d), mix_pairs(e, g), mix_pairs(f, h);
  mix_fours(a, e), mix_fours(b, f), mix_fours(c, g), mix_fours(d, h);
  write_row(a, to), write_row(c, to + to_apart);
  write_row(b, to + 2 * to_apart), write_row(d, to + 3 * to_apart);
  write_row(e, to + 4 * to_apart), write_row(g, to + 5 * to_apart);
  write_row(f, to + 6 * to_apart), write_row(h, to + 7 * to_apart);
}

/// A matrix whose rows lie side by side in the one tensor, and whose columns in the other.
struct TurnedMatrix {
  const float* from;
  float* to;
  std::size_t rows, columns;  // of `from`
  std::size_t from_apart, to_apart;
};

[[gnu::always_inline]] inline void turn_matrix(const TurnedMatrix& m) {
  const std::size_t rows = m.rows / square * square, columns = m.columns / square * square;
  for (std::size_t r = 0; r < rows; r += square)
    for (std::size_t c = 0; c < columns; c += square)
      turn_square(m.from + r * m.from_apart + c, m.from_apart, m.to + c * m.to_apart + r,
                  m.to_apart);
  const auto turn_rest = [&](std::size_t first_row, std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      for (std::size_t r = first_row; r < m.rows; ++r)
        m.to[c * m.to_apart + r] = m.from[r * m.from_apart + c];
  };
  turn_rest(rows, 0, columns);
  turn_rest(0, columns, m.columns);
}

/// Where the numbers of an index over some of the dimensions begin.
struct TurnedPlace {
  std::size_t from = 0, to = 0;

  TurnedPlace(const std::vector<TurnedAxis>& axes, std::size_t index) {
    for (std::size_t d = axes.size(); d-- > 0; index /= axes[d].size) {
      from += index % axes[d].size * axes[d].from;
      to += index % axes[d].size * axes[d].to;
    }
  }
};

/// The dimension along which the numbers lie side by side before.
std::size_t inner_axis(const Turn& turn) {
  for (std::size_t d = 0; d < turn.axes.size(); ++d)
    if (turn.axes[d].from == 1) return d;
  return turn.axes.size() - 1;
}

std::size_t count_of(const std::vector<TurnedAxis>& axes) {
  std::size_t count = 1;
  for (const TurnedAxis& axis : axes) count *= axis.size;
  return count;
}

void copy_runs(const Turn& turn, const float* from, float* to) {
  const std::size_t run = turn.axes.back().size;
  std::vector<TurnedAxis> outer(turn.axes.begin(), turn.axes.end() - 1);
  in_pieces_of_rows(count_of(outer), run, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const TurnedPlace place(outer, i);
      std::memcpy(to + place.to, from + place.from, run * sizeof(float));
    }
  });
}

#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
void turn_one_matrix(const TurnedMatrix& matrix) {
  turn_matrix(matrix);
}

}  // namespace

Turn turn_of(std::vector<TurnedAxis> axes) {
  std::erase_if(axes, [](const TurnedAxis& axis) { return axis.size == 1; });
  std::sort(axes.begin(), axes.end(),
            [](const TurnedAxis& a, const TurnedAxis& b) { return a.to > b.to; });
  Turn turn;
  for (const TurnedAxis& axis : axes) {
    TurnedAxis* const before = turn.axes.empty() ? nullptr : &turn.axes.back();
    const bool follows =
        before && before->from == axis.size * axis.from && before->to == axis.size * axis.to;
    if (follows)
      *before = {before->size * axis.size, axis.from, axis.to};
    else
      turn.axes.push_back(axis);
  }
  if (turn.axes.empty()) turn.axes.push_back({});
  return turn;
}

bool is_fast(const Turn& turn) {
  const std::size_t inner = inner_axis(turn);
  return turn.axes[inner].size >= square && turn.axes.back().size >= square;
}

void turn_numbers(const Turn& turn, const float* from, float* to) {
  const std::size_t inner = inner_axis(turn);
  if (inner + 1 == turn.axes.size()) return copy_runs(turn, from, to);
  std::vector<TurnedAxis> outer;
  for (std::size_t d = 0; d + 1 < turn.axes.size(); ++d)
    if (d != inner) outer.push_back(turn.axes[d]);
  const TurnedAxis &columns = turn.axes[inner], &rows = turn.axes.back();
  constexpr std::size_t strip = 4 * square;  // of columns
  const std::size_t strips = (columns.size + strip - 1) / strip;
  const auto write = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const TurnedPlace place(outer, i / strips);
      const std::size_t column = i % strips * strip;
      turn_one_matrix({from + place.from + column, to + place.to + column * columns.to, rows.size,
                       std::min(strip, columns.size - column), rows.from, columns.to});
    }
  };
  in_pieces_of_rows(count_of(outer) * strips, strip * rows.size, write);
}

}  // namespace millrace::kernels
