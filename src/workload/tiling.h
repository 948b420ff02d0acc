#pragma once
// How a layer is cut into tiles, and the search for the best way under a model of time.
#include <span>

#include "workload/geometry.h"

namespace millrace::workload {

/// A memory between that of the tensors and the scratchpad.
struct TileLevel {
  std::string name;
  Bytes size;
  double bytes_per_second = 1e10;  // over the way from the memory before it
};

/// What the compiler knows of the processor and its memories.
struct TileTarget {
  Bytes scratchpad{256 * 1024};         // the nearest memory, where tiles are computed
  std::vector<TileLevel> between = {};  // the one that is next to the tensors first
  std::int64_t element = 4;  // bytes of a number as it is moved
  double macs_per_second = 1e10;
  double values_per_second = 1e9;  // of what does not multiply, by element of the output
  /// Numbers under the windows of depthwise convolutions and pools; 0: as all others. And of each
  /// row of numbers that their kernels put in place, or write.
  double window_numbers_per_second = 0, window_row_seconds = 0;
  /// A convolution's kernel computes a multiple of so many of a tile's pixels. It gathers the
  /// numbers under their windows, once for so many outputs. Of each piece that lies side by side:
  std::int64_t pixels_together = 1, outputs_together = 128;
  double gathered_piece_seconds = 0;
  double bytes_per_second = 1e10;  // to and from the scratchpad, from the memory before it
  double run_seconds = 1e-6;       // of each run of a link
  double row_seconds = 0;          // of each piece of a transfer that lies side by side
  bool may_overlap = false;        // transfers go on while a tile is computed
};

/// Bytes per second from memory to memory, over all ways that lie between them: the slowest one's.
/// Memories by number: 0 holds the tensors, then those between, then the scratchpad.
double rate_between(const TileTarget& target, std::size_t from, std::size_t to);

inline constexpr std::size_t max_between = 3;  // memories

struct Tiling {
  ByLoop tile = {1, 1, 1, 1, 1, 1};  // positions of each loop in one tile
  bool rows_outside = false;         // rows and columns around the outputs' channels, else inside
  bool overlapped = false;           // double buffers, else single ones
  std::size_t memories = 1;          // fast ones, with the scratchpad
  /// By memory between: how many loops, in the order of their nesting, are around its tiles. The
  /// others are whole in it.
  std::array<std::size_t, max_between> outside = {loop_count, loop_count, loop_count};
};

/// What the model says of a tiling.
struct TilingCost {
  double seconds = 0;
  std::int64_t traffic = 0;  // bytes from and to the memory of the tensors
  std::int64_t scratch = 0;  // bytes needed
  std::array<std::int64_t, max_between> between = {};  // bytes needed of the memories between
  std::int64_t steps = 0;
};

/// No tiling is faster: the arithmetic alone, and each tensor moved once.
struct LowerBound {
  double compute_seconds = 0, transfer_seconds = 0;
  std::int64_t traffic = 0;
};
LowerBound lower_bound(const LayerGeometry& geometry, const TileTarget& target);

/// Loops in the order in which they are nested, outermost first.
std::array<Loop, loop_count> order_of(const Tiling& tiling);

/// Tiles of the loop.
std::int64_t tiles_of(const LayerGeometry& geometry, const Tiling& tiling, Loop loop);

/// The positions of an operand's side in a tile: the first, one between, and the last.
struct Extents {
  std::int64_t first = 1, middle = 1, last = 1;
  std::int64_t first_step = 0, next_step = 0;  // positions from tile to tile
  std::int64_t largest() const { return std::max({first, middle, last}); }
};
/// Nothing if windows reach into the padding from other tiles than the first and the last.
std::optional<Extents> extents_of(const LayerGeometry& geometry, const Tiling& tiling,
                                  const SideUnder& side);

/// How often an operand's tile stays: runs of the innermost loops that it does not follow.
std::int64_t period_of(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand);

/// Bytes of the largest tile in the memory.
std::int64_t tile_bytes(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                        std::size_t memory);

/// Bytes of 32-bit sums in the scratchpad, where 8-bit tiles are summed over several runs; else 0.
std::int64_t sums_bytes(const LayerGeometry& geometry, const Tiling& tiling);

/// Places that the operand's tiles take in turn in the memory.
std::int64_t places_of(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       std::size_t memory);

/// A transfer that goes on beside the kernel, in every so many of its runs.
struct SteadyTransfer {
  std::size_t unit = 0;  // by the outer memory
  std::int64_t period = 1;
  double seconds = 0;  // of one run
};
/// So many steps, which each last as long as the slowest of their units: a step with a transfer
/// that is rare is longer than the others.
double overlapped_seconds(std::int64_t steps, double compute_seconds,
                          std::span<const SteadyTransfer> transfers);

/// Whether all memories are large enough.
bool fits(const TilingCost& cost, const TileTarget& target);

/// All runs of the layer's kernel.
double kernel_seconds(const LayerGeometry& geometry, const Tiling& tiling,
                      const TileTarget& target);

/// Bytes of the operand, each number that the layer needs once.
std::int64_t whole_bytes(const LayerGeometry& geometry, const Operand& operand);

/// Nothing if the tiling is not possible.
std::optional<TilingCost> cost_of(const LayerGeometry& geometry, const Tiling& tiling,
                                  const TileTarget& target);

/// The fastest one; of equally fast ones that with the least traffic. InputError with what the
/// smallest tile needs if the scratchpad is too small. `name`: of the layer, for the error.
Tiling best_tiling(const LayerGeometry& geometry, const TileTarget& target,
                   const std::string& name);

}  // namespace millrace::workload
