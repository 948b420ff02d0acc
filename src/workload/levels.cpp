#include "workload/levels.h"

#include <algorithm>

namespace millrace::workload {
namespace {

/// How many loops are around the tiles of a memory.
std::size_t loops_around(const Tiling& tiling, std::size_t memory) {
  const bool between = memory > 0 && memory < tiling.memories;
  return between ? tiling.outside[memory - 1] : loop_count;
}

std::int64_t all_tiles(const LayerGeometry& geometry, const Tiling& tiling) {
  std::int64_t tiles = 1;
  for (std::size_t i = 0; i < loop_count; ++i)
    tiles *= tiles_of(geometry, tiling, static_cast<Loop>(i));
  return tiles;
}

/// Loops without cuts go through positions one by one, which no tile of several holds.
std::size_t least_around(const LayerGeometry& geometry, const Tiling& tiling) {
  const auto order = order_of(tiling);
  std::size_t least = 0;
  for (std::size_t i = 0; i < loop_count; ++i)
    if (!geometry.cuts[at(order[i])] && geometry.totals[at(order[i])] > 1) least = i + 1;
  return least;
}

/// With each choice for one more memory between.
void add_nestings(const LayerGeometry& geometry, const Tiling& tiling, std::size_t memory,
                  std::vector<Tiling>& nested) {
  const auto order = order_of(tiling);
  const std::size_t least =
      memory == 0 ? least_around(geometry, tiling) : tiling.outside[memory - 1];
  for (std::size_t around = least; around <= loop_count; ++around) {
    // Else the same as with one more loop around.
    if (around < loop_count && tiles_of(geometry, tiling, order[around]) == 1) continue;
    nested.push_back(tiling);
    nested.back().outside[memory] = around;
  }
}

/// Bytes that come into the memory in all runs.
std::int64_t bytes_into(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                        std::size_t memory) {
  return all_tiles(geometry, tiling) / period_in(geometry, tiling, operand, memory) *
         elements_in(geometry, tiling, operand, memory);
}

}  // namespace

Tiling at_memory(const LayerGeometry& geometry, const Tiling& tiling, std::size_t memory) {
  Tiling alone = tiling;
  const auto order = order_of(tiling);
  for (std::size_t i = loops_around(tiling, memory); i < loop_count; ++i)
    alone.tile[at(order[i])] = geometry.totals[at(order[i])];
  return alone;
}

std::int64_t period_in(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       std::size_t memory) {
  const Tiling alone = at_memory(geometry, tiling, memory);
  return period_of(geometry, alone, operand) *
         (all_tiles(geometry, tiling) / all_tiles(geometry, alone));
}

MemoryPath path_of(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand) {
  MemoryPath path;
  path.memories[path.size++] = tiling.memories;
  std::int64_t least = 0;
  for (std::size_t memory = tiling.memories - 1; memory > operand.home; --memory) {
    if (least == 0) least = bytes_into(geometry, tiling, operand, path.memories[path.size - 1]);
    const std::int64_t bytes = bytes_into(geometry, tiling, operand, memory);
    if (bytes >= least) continue;
    least = bytes;
    path.memories[path.size++] = memory;
  }
  path.memories[path.size++] = operand.home;
  std::reverse(path.memories.begin(),
               path.memories.begin() + static_cast<std::ptrdiff_t>(path.size));
  return path;
}

bool reads_all(const LayerGeometry& geometry, const Tiling& tiling) {
  const auto order = order_of(tiling);
  for (std::size_t i = loops_around(tiling, 1); i < loop_count; ++i) {
    if (order[i] != Loop::row && order[i] != Loop::col) continue;
    const std::size_t axis = order[i] == Loop::row ? 0 : 1;
    const TileWindow& w = geometry.window;
    const bool skips = w.strides[axis] > (w.kernel[axis] - 1) * w.dilations[axis] + 1;
    if (skips && tiles_of(geometry, tiling, order[i]) > 1) return false;
  }
  return true;
}

std::int64_t elements_in(const LayerGeometry& geometry, const Tiling& tiling,
                         const Operand& operand, std::size_t memory) {
  const Tiling alone = at_memory(geometry, tiling, memory);
  std::int64_t elements = 1;
  for (const SideUnder& side : operand.sides) {
    const std::optional<Extents> extents = extents_of(geometry, alone, side);
    if (!extents) return -1;
    elements *= extents->largest() * side.elements;
  }
  return elements;
}

std::int64_t pieces_on(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       const MemoryWay& way) {
  const Tiling outer = at_memory(geometry, tiling, way.outer);
  const Tiling inner = at_memory(geometry, tiling, way.inner);
  const bool from_tensor = way.outer == operand.home;
  std::int64_t side_by_side = 1, pieces = 1, dense = 1;
  for (std::size_t i = operand.sides.size(); i-- > 0;) {
    const SideUnder& side = operand.sides[i];
    const std::int64_t count = extents_of(geometry, inner, side)->largest() * side.elements;
    const std::int64_t stride = from_tensor ? side.stride : dense;
    if (pieces == 1 && (count == 1 || stride == side_by_side))
      side_by_side *= count;
    else
      pieces *= count;
    if (!from_tensor) dense *= extents_of(geometry, outer, side)->largest() * side.elements;
  }
  return pieces;
}

std::vector<Tiling> nestings_of(const LayerGeometry& geometry, const Tiling& tiling) {
  std::vector<Tiling> nestings{tiling};
  const std::size_t between = std::min(tiling.memories - 1, max_between);
  for (std::size_t memory = 0; memory < between; ++memory) {
    std::vector<Tiling> nested;
    for (const Tiling& outer : nestings) add_nestings(geometry, outer, memory, nested);
    nestings = std::move(nested);
  }
  return nestings;
}

}  // namespace millrace::workload
