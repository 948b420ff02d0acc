#pragma once
// Where in one piece of memory buffers lie whose lives do not all overlap.
#include <cstddef>
#include <span>
#include <vector>

#include "base/units.h"

namespace millrace::engine {

/// A buffer that must exist from step `first` to step `last`, both included.
struct BufferLife {
  Bytes size;
  std::size_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<Bytes> offsets;  // by buffer, multiples of network::tensor_alignment
  Bytes size;
};

/// No two buffers overlap both in time and in place. Greedy: the largest first, each into the
/// tightest gap that is left at its time. A function of its arguments only.
ArenaPlan plan_arena(std::span<const BufferLife> buffers);

}  // namespace millrace::engine
