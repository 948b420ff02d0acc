#pragma once
// Matrices of bytes, turned so that columns become rows.
#include <cstddef>
#include <cstdint>

namespace millrace::kernels {

/// Rows of `columns` bytes, `from_apart` from one to the next; each column becomes a row,
/// `to_apart` from one to the next.
struct ByteMatrix {
  std::size_t rows = 1, columns = 1;
  const std::uint8_t* from = nullptr;
  std::size_t from_apart = 1;
  std::uint8_t* to = nullptr;
  std::size_t to_apart = 1;
};

/// On the calling thread.
void turn_bytes(const ByteMatrix& matrix);

}  // namespace millrace::kernels
