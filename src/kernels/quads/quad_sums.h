#pragma once
// Rows of bytes times panels of weights, as int32 and exact, by the instructions of one unit.
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/quads/byte_unit.h"

namespace millrace::kernels {

/// Bytes of one output's weights for each byte of a row, and how the panel lies.
struct PanelWeights {
  ByteUnit unit = ByteUnit::neon;
  std::size_t depth = 0;  // whole steps

  /// Size of a panel, in bytes: a multiple of 64.
  std::size_t size() const;
  /// `weights`: by output of the panel, then by byte of a row, `depth` each. `to`: size() zeros.
  void pack(std::span<const std::int8_t> weights, std::byte* to) const;
};

/// Whether ByteUnit::avx2 needs so many second turns for panels of such outputs, `depth` weights
/// each, that avx2_signs is faster.
bool is_faster_by_signs(std::span<const std::int8_t> weights, std::size_t depth);

/// Some rows by one panel.
struct PanelProduct {
  const std::uint8_t* rows = nullptr;
  std::size_t count = 0, row_apart = 0;  // bytes from one row to the next
  std::size_t depth = 0;                 // bytes of a row: whole steps
  const std::byte* panel = nullptr;
  const std::int32_t* starts = nullptr;  // of the sums, by output of the panel
  std::int32_t* sums = nullptr;          // by output; all of a panel are written
  std::size_t sum_apart = 0;             // from one row's to the next
};
/// Precondition: the processor has the unit; no weight is -128 where wants_symmetric().
void multiply(ByteUnit unit, const PanelProduct& product);

}  // namespace millrace::kernels
