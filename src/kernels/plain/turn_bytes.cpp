#include "kernels/plain/turn_bytes.h"

#include <algorithm>
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

/// Few rows: the bytes of a column are written one after the other.
template <std::size_t rows>
void turn_few_rows(const ByteMatrix& m) {
  const std::uint8_t* __restrict from = m.from;
  std::uint8_t* __restrict to = m.to;
  const std::size_t apart = m.from_apart;
  for (std::size_t c = 0; c < m.columns; ++c, ++from, to += m.to_apart)
    for (std::size_t r = 0; r < rows; ++r) to[r] = from[r * apart];
}

}  // namespace

void turn_bytes(const ByteMatrix& m) {
  if (m.rows == 3) return turn_few_rows<3>(m);
  if (m.rows < byte_square || m.columns < byte_square) {
    for (std::size_t c = 0; c < m.columns; ++c)
      for (std::size_t r = 0; r < m.rows; ++r)
        m.to[c * m.to_apart + r] = m.from[r * m.from_apart + c];
    return;
  }
  // The last squares begin earlier and turn some bytes again.
  for (std::size_t row = 0; row < m.rows; row += byte_square)
    for (std::size_t column = 0; column < m.columns; column += byte_square) {
      const std::size_t r = std::min(row, m.rows - byte_square);
      const std::size_t c = std::min(column, m.columns - byte_square);
      turn_square_of_bytes(m.from + r * m.from_apart + c, m.from_apart, m.to + c * m.to_apart + r,
                           m.to_apart);
    }
}

}  // namespace millrace::kernels
