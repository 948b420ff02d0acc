#pragma once
// Inside the room: a tiling over several fast memories. Every loop is cut once. In a memory between
// the tensors and the scratchpad, the loops around its tiles are cut as in the scratchpad, and the
// loops inside of them are whole: such a tile serves many tiles of the scratchpad.
#include "workload/tiling.h"

namespace millrace::workload {

/// Memories by number: 0 holds the tensors, the last one is the scratchpad.
inline constexpr std::size_t most_memories = max_between + 2;

/// The tiles of one memory alone.
Tiling at_memory(const LayerGeometry& geometry, const Tiling& tiling, std::size_t memory);

/// Runs of the kernel for which the operand's tile stays in the memory.
std::int64_t period_in(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       std::size_t memory);

/// The memories through which an operand goes, from where its tensor lies to the scratchpad.
struct MemoryPath {
  std::array<std::size_t, most_memories> memories = {};
  std::size_t size = 0;
};
/// A memory between is left out where it would not save transfers from the one before it.
MemoryPath path_of(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand);

/// Whether all that lies in a memory's tiles is read from there. Windows that skip rows leave some.
bool reads_all(const LayerGeometry& geometry, const Tiling& tiling);

/// Elements of the operand's largest tile in the memory.
std::int64_t elements_in(const LayerGeometry& geometry, const Tiling& tiling,
                         const Operand& operand, std::size_t memory);

/// From an outer memory to an inner one, or back.
struct MemoryWay {
  std::size_t outer = 0, inner = 1;
};
/// Pieces of one tile of the inner memory that lie side by side in the outer one.
std::int64_t pieces_on(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       const MemoryWay& way);

/// With each choice of the loops inside the tiles of the memories between.
std::vector<Tiling> nestings_of(const LayerGeometry& geometry, const Tiling& tiling);

}  // namespace millrace::workload
