#include "kernels/plain/turn_bytes.h"

#include <array>

namespace millrace::kernels {
namespace {

constexpr std::size_t byte_square = 16;

using ByteRow [[gnu::vector_size(byte_square)]] = std::uint8_t;
using SquareOfBytes = std::array<ByteRow, byte_square>;

/// Each row with the one eight rows below, byte by byte. Four times in a row rows and columns have
/// changed places.
[[gnu::always_inline]] inline void interleave(const SquareOfBytes& from, SquareOfBytes& to) {
  for (std::size_t i = 0; i < byte_square / 2; ++i) {
    const ByteRow &a = from[i], &b = from[i + byte_square / 2];
    to[2 * i] =
        __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    to[2 * i + 1] =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

void turn_square_of_bytes(const std::uint8_t* from, std::size_t from_apart, std::uint8_t* to,
                          std::size_t to_apart) {
  SquareOfBytes a, b;
  for (std::size_t i = 0; i < byte_square; ++i)
    __builtin_memcpy(&a[i], from + i * from_apart, byte_square);
  interleave(a, b);
  interleave(b, a);
  interleave(a, b);
  interleave(b, a);
  for (std::size_t i = 0; i < byte_square; ++i)
    __builtin_memcpy(to + i * to_apart, &a[i], byte_square);
}

}  // namespace

void turn_bytes(const ByteMatrix& m) {
  const std::size_t rows = m.rows / byte_square * byte_square;
  const std::size_t columns = m.columns / byte_square * byte_square;
  for (std::size_t r = 0; r < rows; r += byte_square)
    for (std::size_t c = 0; c < columns; c += byte_square)
      turn_square_of_bytes(m.from + r * m.from_apart + c, m.from_apart, m.to + c * m.to_apart + r,
                           m.to_apart);
  const auto turn_rest = [&](std::size_t first_row, std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      for (std::size_t r = first_row; r < m.rows; ++r)
        m.to[c * m.to_apart + r] = m.from[r * m.from_apart + c];
  };
  turn_rest(rows, 0, columns);
  turn_rest(0, columns, m.columns);
}

}  // namespace millrace::kernels
