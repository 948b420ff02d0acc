#pragma once
// Products of matrices of 8-bit integers, as int32 and exact: four products at once in each lane of
// a vector where the processor can, else two.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/plain/byte_numbers.h"
#include "kernels/plain/byte_tiles.h"

namespace millrace::kernels {

/// The left matrix: rows of bytes, each of which stands for itself less `zero`.
struct ByteRows {
  std::size_t count = 0;
  std::int32_t zero = 0;
  /// Writes rows [first, first + count), `apart` bytes apart. Called by several threads.
  std::function<void(std::size_t first, std::size_t count, std::uint8_t* to, std::size_t apart)>
      write;
  /// Where they lie one behind the other, if they do; then nobody need write them.
  const std::uint8_t* bytes = nullptr;
  /// As they lie or are written; then `zero` is that of integers which are larger by 128.
  bool is_signed = false;
};

/// Where rows of bytes go that sums become, `apart` bytes apart.
struct ByteTarget {
  ByteRescaling rescaling;  // by column
  std::uint8_t* to = nullptr;
  std::size_t apart = 1;
};

/// The right matrix, less its zero points: integers in [-255, 255].
class PackedBytes {
 public:
  /// Columns one behind the other. At most 33,000 numbers a column, so that sums fit.
  PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns);
  /// `quads`: four at once; only where takes_quads().
  PackedBytes(std::span<const std::int16_t> transposed, std::size_t columns, bool quads);

  std::size_t columns() const { return columns_; }
  std::size_t depth() const { return depth_; }
  /// From one row of sums to the next: whole panels.
  std::size_t width() const;

  /// `take` is given the sums of some rows as soon as they are there, by several threads.
  using Take = std::function<void(std::size_t first, std::size_t count, const std::int32_t* sums)>;
  /// Runs on the calling thread and its OpenMP helpers.
  void multiply(const ByteRows& rows, const Take& take) const;
  /// The same, and the sums become bytes.
  void multiply(const ByteRows& rows, const ByteTarget& target) const;

 private:
  struct Piece;
  std::size_t steps() const;
  std::vector<std::int32_t> starts(const ByteRows& rows, const std::int32_t* bias) const;
  Piece piece_of(const ByteRows& rows, std::size_t first, std::size_t last) const;
  ByteTiles tiles_of(Piece& piece, const std::int32_t* starts) const;
  void write_sums(Piece& piece, const std::int32_t* starts, std::int32_t* sums) const;

  std::size_t columns_ = 0, depth_ = 0;
  bool quads_ = false;
  std::vector<std::byte> panels_;
  std::vector<std::int32_t> column_sums_;
  std::vector<std::int32_t> lacking_;  // by column: what the panels' numbers are less; may be empty
};

/// Whether the processor multiplies four pairs of bytes at once.
bool has_quads();
/// The same, and the numbers of each column are bytes with a sign, or would be if all of them were
/// larger or smaller by some number.
bool takes_quads(std::span<const std::int16_t> transposed, std::size_t columns);

}  // namespace millrace::kernels
