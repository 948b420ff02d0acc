#pragma once
// Loops that keep an arithmetic unit of a core as busy as it can be, to measure its peak.
#include <cstdint>
#include <vector>

#include "board/peaks.h"

namespace millrace::board {

struct UnitLoop {
  const char* unit;  // "avx512f"
  Precision precision = Precision::f32;
  std::int64_t operations = 0;  // in one round; a multiply-accumulate is two
  /// On the calling thread, out of registers alone: independent multiply-accumulates, more of them
  /// than the unit has on their way.
  void (*run)(std::int64_t rounds) = nullptr;
};

/// The loops that this machine can run. For float32 there is always one.
std::vector<UnitLoop> unit_loops();

}  // namespace millrace::board
