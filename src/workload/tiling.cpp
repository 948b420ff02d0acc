#include "workload/tiling.h"

#include <algorithm>
#include <limits>

#include "workload/levels.h"

namespace millrace::workload {
namespace {

constexpr std::int64_t place_alignment = 64;

std::int64_t product_of_tiles(const LayerGeometry& geometry, const Tiling& tiling) {
  std::int64_t tiles = 1;
  for (std::size_t i = 0; i < loop_count; ++i)
    tiles *= tiles_of(geometry, tiling, static_cast<Loop>(i));
  return tiles;
}

std::size_t axis_of(Loop loop) { return loop == Loop::row ? 0 : 1; }

/// Rows or columns of the input under a tile's windows.
std::optional<Extents> sliding_extents(const LayerGeometry& geometry, const Tiling& tiling,
                                       const SideUnder& side) {
  const std::size_t axis = axis_of(side.loop);
  const TileWindow& w = geometry.window;
  const std::int64_t input = geometry.input[axis], total = geometry.totals[at(side.loop)];
  const std::int64_t tiles = tiles_of(geometry, tiling, side.loop),
                     tile = tiling.tile[at(side.loop)];
  const std::int64_t reach = (w.kernel[axis] - 1) * w.dilations[axis] + 1, pad = w.pads[axis];
  const std::int64_t step = tile * w.strides[axis];
  const auto end = [&](std::int64_t begin, std::int64_t outputs) {
    return begin + (outputs - 1) * w.strides[axis] + reach;
  };
  if (tiles == 1) {
    const std::int64_t all = std::min(input, end(-pad, total));
    if (all < 1) return std::nullopt;
    return Extents{all, all, all, 0, 0};
  }
  const std::int64_t last_begin = (tiles - 1) * step - pad;
  const std::int64_t last =
      std::min(input, end(last_begin, total - (tiles - 1) * tile)) - last_begin;
  const bool inside = step >= pad && end((tiles - 2) * step - pad, tile) <= input;
  const std::int64_t first = end(-pad, tile);  // none, if its windows lie in the padding
  if (!inside || first < 1 || last < 1) return std::nullopt;
  return Extents{first, end(0, tile), last, step - pad, step};
}

/// Its windows slide over one channel each.
bool is_by_channel(const LayerGeometry& geometry) {
  return slides(geometry.operation) && geometry.operation != TileOperation::convolution;
}

double compute_seconds(const LayerGeometry& geometry, const TileTarget& target) {
  double numbers = 1;
  for (std::size_t i = 0; i < loop_count; ++i) numbers *= static_cast<double>(geometry.totals[i]);
  const std::int64_t window = geometry.window.kernel[0] * geometry.window.kernel[1];
  const bool multiplies = geometry.macs_per_position > 0;
  numbers *= static_cast<double>(multiplies ? geometry.macs_per_position : window);
  if (is_by_channel(geometry) && target.window_numbers_per_second > 0)
    return numbers / target.window_numbers_per_second;
  return numbers / (multiplies ? target.macs_per_second : target.values_per_second);
}

/// The plain loops take dense tiles only: parts of a channel one by one.
bool is_dense(const LayerGeometry& geometry, const Tiling& tiling) {
  return geometry.operation != TileOperation::layer || tiling.tile[at(Loop::group)] == 1 ||
         tiles_of(geometry, tiling, Loop::col) == 1;
}

/// Rows and columns of a tile's outputs.
std::array<std::int64_t, 2> plane_of(const LayerGeometry& geometry, const Tiling& tiling) {
  std::array<std::int64_t, 2> plane{};
  for (const Loop loop : {Loop::row, Loop::col})
    plane[axis_of(loop)] = std::min(tiling.tile[at(loop)], geometry.totals[at(loop)]);
  return plane;
}

std::int64_t parts_of(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

/// A tile of few pixels leaves part of the arithmetic idle.
double idle_factor(const LayerGeometry& geometry, const Tiling& tiling, const TileTarget& target) {
  if (geometry.operation != TileOperation::convolution) return 1;
  const auto [rows, columns] = plane_of(geometry, tiling);
  const std::int64_t strips = parts_of(rows * columns, target.pixels_together);
  return static_cast<double>(strips * target.pixels_together) / static_cast<double>(rows * columns);
}

/// Time of a convolution's kernel: for some outputs after the other, some pixels after the other,
/// each position of the window in each channel. Pixels lie side by side in a row of the output.
double gathering_seconds(const LayerGeometry& geometry, const Tiling& tiling,
                         const TileTarget& target) {
  const TileWindow& w = geometry.window;
  const auto [rows, columns] = plane_of(geometry, tiling);
  const bool is_dense = w.kernel[0] * w.kernel[1] * w.strides[0] * w.strides[1] == 1;
  const std::int64_t pieces =
      parts_of(rows * columns, target.pixels_together) + (is_dense ? 0 : rows);
  const std::int64_t outputs = std::min(tiling.tile[at(Loop::out)], geometry.totals[at(Loop::out)]);
  double times = static_cast<double>(geometry.macs_per_position) * static_cast<double>(pieces) *
                 static_cast<double>(parts_of(outputs, target.outputs_together));
  for (const Loop loop : {Loop::image, Loop::group, Loop::depth})
    times *= static_cast<double>(geometry.totals[at(loop)]);
  for (const Loop loop : {Loop::out, Loop::row, Loop::col})
    times *= static_cast<double>(tiles_of(geometry, tiling, loop));
  return times * target.gathered_piece_seconds;
}

/// Time of kernels whose windows slide over one channel: the rows under a tile's windows, apart by
/// the strides, and those of its outputs.
double sliding_seconds(const LayerGeometry& geometry, const Tiling& tiling,
                       const TileTarget& target) {
  const TileWindow& w = geometry.window;
  const std::int64_t rows = plane_of(geometry, tiling)[0];
  const std::int64_t reach = (w.kernel[0] - 1) * w.dilations[0] + 1;
  const std::int64_t phases = std::min(w.strides[1], (w.kernel[1] - 1) * w.dilations[1] + 1);
  auto times = static_cast<double>(((rows - 1) * w.strides[0] + reach) * phases + rows);
  for (const Loop loop : {Loop::image, Loop::group, Loop::out})
    times *= static_cast<double>(geometry.totals[at(loop)]);
  for (const Loop loop : {Loop::row, Loop::col})
    times *= static_cast<double>(tiles_of(geometry, tiling, loop));
  return times * target.window_row_seconds;
}

template <class F>
void for_each_operand(const LayerGeometry& geometry, const F& f) {
  for (const Operand& source : geometry.sources) f(source);
  f(geometry.output);
}

struct TilingOn {
  const LayerGeometry& geometry;
  const Tiling& tiling;
  const TileTarget& target;
};

struct Moved {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// Time and bytes of an operand, in one run from one memory to the next on its path.
Moved moved(const TilingOn& on, const Operand& operand, const MemoryWay& way) {
  const std::int64_t bytes =
      elements_in(on.geometry, on.tiling, operand, way.inner) * operand.element;
  const auto pieces = static_cast<double>(pieces_on(on.geometry, on.tiling, operand, way));
  return {static_cast<double>(bytes) / rate_between(on.target, way.outer, way.inner) +
              on.target.run_seconds + pieces * on.target.row_seconds,
          bytes};
}

/// Adds one operand: its places in all memories on its path, and its way from each to the next.
void add_transfers(const TilingOn& on, const Operand& operand, TilingCost& cost,
                   std::vector<SteadyTransfer>& transfers) {
  const MemoryPath path = path_of(on.geometry, on.tiling, operand);
  for (std::size_t i = 1; i < path.size; ++i) {
    const std::size_t from = path.memories[i - 1], to = path.memories[i];
    const Moved one = moved(on, operand, {from, to});
    const std::int64_t period = period_in(on.geometry, on.tiling, operand, to);
    transfers.push_back({from, period, one.seconds});
    if (from == 0)
      cost.traffic += product_of_tiles(on.geometry, on.tiling) / period * one.bytes;
    std::int64_t& needed = to == on.tiling.memories ? cost.scratch : cost.between[to - 1];
    needed += tile_bytes(on.geometry, on.tiling, operand, to) *
              places_of(on.geometry, on.tiling, operand, to);
  }
}

}  // namespace

std::array<Loop, loop_count> order_of(const Tiling& tiling) {
  if (tiling.rows_outside)
    return {Loop::image, Loop::group, Loop::row, Loop::col, Loop::out, Loop::depth};
  return {Loop::image, Loop::group, Loop::out, Loop::row, Loop::col, Loop::depth};
}

std::int64_t tiles_of(const LayerGeometry& geometry, const Tiling& tiling, Loop loop) {
  const std::int64_t tile = tiling.tile[at(loop)];
  return (geometry.totals[at(loop)] + tile - 1) / tile;
}

std::optional<Extents> extents_of(const LayerGeometry& geometry, const Tiling& tiling,
                                  const SideUnder& side) {
  if (side.stride == 1 && side.loop == Loop::image) return Extents{};  // numbers side by side
  if (side.slides) return sliding_extents(geometry, tiling, side);
  const std::int64_t tile = tiling.tile[at(side.loop)], total = geometry.totals[at(side.loop)];
  const std::int64_t tiles = tiles_of(geometry, tiling, side.loop);
  if (tiles == 1) return Extents{total, total, total, 0, 0};
  return Extents{tile, tile, total - (tiles - 1) * tile, tile, tile};
}

std::int64_t period_of(const LayerGeometry& geometry, const Tiling& tiling,
                       const Operand& operand) {
  const std::array<Loop, loop_count> order = order_of(tiling);
  std::int64_t period = 1;
  for (std::size_t i = loop_count; i-- > 0;) {
    const std::int64_t tiles = tiles_of(geometry, tiling, order[i]);
    if (tiles > 1 && operand.follows(order[i])) break;
    period *= tiles;
  }
  return period;
}

std::int64_t tile_bytes(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                        std::size_t memory) {
  const std::int64_t bytes = elements_in(geometry, tiling, operand, memory) * operand.element;
  return (bytes + place_alignment - 1) / place_alignment * place_alignment;
}

std::int64_t sums_bytes(const LayerGeometry& geometry, const Tiling& tiling) {
  if (!geometry.scaling || tiles_of(geometry, tiling, Loop::depth) == 1) return 0;
  Operand sums = geometry.output;
  sums.element = sizeof(std::int32_t);
  return tile_bytes(geometry, tiling, sums, tiling.memories);
}

std::int64_t places_of(const LayerGeometry& geometry, const Tiling& tiling, const Operand& operand,
                       std::size_t memory) {
  const bool moves =
      product_of_tiles(geometry, tiling) > period_in(geometry, tiling, operand, memory);
  return tiling.overlapped && moves ? 2 : 1;
}

bool fits(const TilingCost& cost, const TileTarget& target) {
  if (cost.scratch > target.scratchpad.count) return false;
  for (std::size_t i = 0; i < target.between.size(); ++i)
    if (cost.between[i] > target.between[i].size.count) return false;
  return true;
}

double rate_between(const TileTarget& target, std::size_t from, std::size_t to) {
  double rate = std::numeric_limits<double>::infinity();
  for (std::size_t memory = std::min(from, to); memory < std::max(from, to); ++memory)
    rate = std::min(rate, memory < target.between.size() ? target.between[memory].bytes_per_second
                                                         : target.bytes_per_second);
  return rate;
}

double kernel_seconds(const LayerGeometry& geometry, const Tiling& tiling,
                      const TileTarget& target) {
  const double computing =
      compute_seconds(geometry, target) * idle_factor(geometry, tiling, target);
  if (geometry.operation == TileOperation::convolution)
    return computing + gathering_seconds(geometry, tiling, target);
  if (is_by_channel(geometry)) return computing + sliding_seconds(geometry, tiling, target);
  return computing;
}

std::int64_t whole_bytes(const LayerGeometry& geometry, const Operand& operand) {
  const Tiling all{geometry.totals, false, false};
  std::int64_t bytes = operand.element * elements_in(geometry, all, operand, 1);
  for (const Loop loop : {Loop::image, Loop::group})
    if (operand.follows(loop) && !geometry.cuts[at(loop)]) bytes *= geometry.totals[at(loop)];
  return bytes;
}

std::optional<TilingCost> cost_of(const LayerGeometry& geometry, const Tiling& tiling,
                                  const TileTarget& target) {
  bool possible = is_dense(geometry, tiling);
  for_each_operand(geometry, [&](const Operand& operand) {
    possible = possible && elements_in(geometry, tiling, operand, tiling.memories) > 0;
  });
  possible = possible && reads_all(geometry, tiling);
  if (!possible) return std::nullopt;
  TilingCost cost;
  std::vector<SteadyTransfer> transfers;
  for_each_operand(geometry, [&](const Operand& operand) {
    add_transfers({geometry, tiling, target}, operand, cost, transfers);
  });
  cost.scratch += sums_bytes(geometry, tiling);
  const std::int64_t tiles = product_of_tiles(geometry, tiling);
  const double compute =
      kernel_seconds(geometry, tiling, target) + static_cast<double>(tiles) * target.run_seconds;
  cost.steps = tiles + (tiling.overlapped ? 2 : 0);
  if (tiling.overlapped) {
    cost.seconds = overlapped_seconds(tiles, compute, transfers);
    return cost;
  }
  cost.seconds = compute;
  for (const SteadyTransfer& one : transfers)
    cost.seconds += static_cast<double>(tiles / one.period) * one.seconds;
  return cost;
}

double overlapped_seconds(std::int64_t steps, double compute_seconds,
                          std::span<const SteadyTransfer> transfers) {
  const auto count = static_cast<double>(steps);
  std::array<double, most_memories> steady{};  // by unit, in every step
  for (const SteadyTransfer& one : transfers)
    if (one.period == 1) steady[one.unit] += one.seconds;
  const double moving = *std::ranges::max_element(steady);
  const double step = std::max(compute_seconds / count, moving);
  // In the first step nothing is computed yet, in the last one nothing is any more.
  double seconds = count * step + moving;
  for (const SteadyTransfer& one : transfers) {
    if (one.period == 1) continue;
    const double longer = std::max(0.0, steady[one.unit] + one.seconds - step);
    // The first run has no step of the kernel beside it.
    seconds += static_cast<double>(steps / one.period - 1) * longer + one.seconds;
  }
  return seconds;
}

LowerBound lower_bound(const LayerGeometry& geometry, const TileTarget& target) {
  LowerBound bound;
  bound.compute_seconds = compute_seconds(geometry, target);
  const std::size_t last = target.between.size() + 1;
  std::array<double, most_memories> passing{};  // bytes over the way to each memory
  for_each_operand(geometry, [&](const Operand& operand) {
    const std::int64_t bytes = whole_bytes(geometry, operand);
    if (operand.home == 0) bound.traffic += bytes;
    for (std::size_t memory = operand.home + 1; memory <= last; ++memory)
      passing[memory] += static_cast<double>(bytes);
  });
  for (std::size_t memory = 1; memory <= last; ++memory)
    bound.transfer_seconds = std::max(bound.transfer_seconds,
                                      passing[memory] / rate_between(target, memory - 1, memory));
  return bound;
}

}  // namespace millrace::workload
