#include "workload/chain.h"

#include <algorithm>

#include "workload/facts.h"

namespace millrace::workload {
namespace {

/// How a member's windows lie over the rows of its input; without windows: one row each.
struct RowWindow {
  std::int64_t stride = 1, reach = 1, pad = 0, input = 1;
};

RowWindow row_window(const ChainMember& member) {
  const LayerGeometry& geometry = member.rows.geometry;
  const TileWindow& w = geometry.window;
  return {w.strides[0], (w.kernel[0] - 1) * w.dilations[0] + 1, w.pads[0], geometry.input[0]};
}

struct InputRows {
  RowParts written, read;
  std::int64_t kept = 0;
};

/// What of the input has to be there for each tile of the output.
std::optional<InputRows> input_rows(const RowWindow& w, const RowParts& out, std::int64_t tiles) {
  const std::int64_t first = std::min(w.input, (out.first - 1) * w.stride - w.pad + w.reach);
  if (first < 1) return std::nullopt;
  if (tiles == 1) return InputRows{{first, first, first}, {first, first, first}, 0};
  const std::int64_t step = out.middle * w.stride, kept = w.reach - w.stride;
  const std::int64_t before_last = first + (tiles - 2) * step;
  const std::int64_t end = before_last + step - (out.middle - out.last) * w.stride;
  const std::int64_t last = std::min(w.input, end) - before_last;
  // A first tile that was cut short by the end of the input is no beginning for others.
  const bool cut = first != (out.first - 1) * w.stride - w.pad + w.reach;
  if (cut || last < 1 || kept < 0 || first < kept) return std::nullopt;
  return InputRows{{first, step, last}, {first, step + kept, last + kept}, kept};
}

struct LinkTime {
  double seconds = 0;
  std::int64_t bytes = 0;
};

/// A joint as in a tile between, which most tiles are.
Tile usual_tile(const Joint& joint) {
  JointState state;
  for (std::size_t i = 0; i < joint.walk_size; ++i)
    state.index[i] = joint.walk[i].count > 2 ? 1 : 0;
  return tile_of(joint, state);
}

LinkTime time_of(const Link& link, const TileTarget& target, bool from_scratch) {
  const Joint& outside = from_scratch ? link.sink : link.sources[0];
  const Tile tile = usual_tile(outside);
  std::int64_t side_by_side = outside.element, pieces = 1;
  for (std::size_t i = outside.side_count; i-- > 0;)
    if (pieces == 1 && (tile.counts[i] == 1 || tile.strides[i] == side_by_side))
      side_by_side *= tile.counts[i];
    else
      pieces *= tile.counts[i];
  const auto runs = static_cast<double>(runs_of(link));
  const auto bytes = static_cast<double>(side_by_side * pieces);
  const double rate = rate_between(target, 0, target.between.size() + 1);
  return {runs * (bytes / rate + target.run_seconds +
                  static_cast<double>(pieces) * target.row_seconds),
          runs_of(link) * side_by_side * pieces};
}

Tiling rows_alone(const LayerGeometry& geometry, std::int64_t rows) {
  Tiling tiling{geometry.totals, true, false};
  tiling.tile[at(Loop::row)] = rows;
  return tiling;
}

TilingCost cost_of_chain(const Workload& workload, std::span<const ChainMember> chain,
                         const ChainRows& rows, const TileTarget& target) {
  TilingCost cost;
  double computing = 0;
  std::vector<SteadyTransfer> transfers;
  for (std::size_t i = 0; i < chain.size(); ++i)
    computing += kernel_seconds(chain[i].rows.geometry,
                                rows_alone(chain[i].rows.geometry, rows.written[i].middle), target);
  for (const Link& link : workload.links) {
    const auto runs = static_cast<double>(runs_of(link));
    if (link.kind == LinkKind::processing) {
      computing += runs * target.run_seconds;
      continue;
    }
    const bool stores = workload.buffers[static_cast<std::size_t>(link.sink.buffer)].memory == 0;
    const LinkTime time = time_of(link, target, stores);
    if (link.unit == processing_unit) {
      computing += time.seconds;
      continue;
    }
    transfers.push_back({0, link.period, time.seconds / runs});
    cost.traffic += time.bytes;
  }
  cost.scratch = needed_of(workload, target.between.size() + 1);
  cost.steps = steps_of(workload);
  if (workload.overlapped) {
    cost.seconds = overlapped_seconds(rows.tiles, computing, transfers);
    return cost;
  }
  cost.seconds = computing;
  for (const SteadyTransfer& one : transfers)
    cost.seconds += static_cast<double>(rows.tiles / one.period) * one.seconds;
  return cost;
}

/// The arithmetic of all, and each tensor that comes from outside or goes there moved once.
LowerBound chain_bound(std::span<const ChainMember> chain, const TileTarget& target) {
  LowerBound bound;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const LayerGeometry& geometry = chain[i].rows.geometry;
    const LowerBound one = lower_bound(geometry, target);
    bound.compute_seconds += one.compute_seconds;
    bound.traffic += one.traffic;
    if (i == 0) continue;
    bound.traffic -= whole_bytes(geometry, geometry.sources[chain[i].rows.input]);
    bound.traffic -= whole_bytes(chain[i - 1].rows.geometry, chain[i - 1].rows.geometry.output);
  }
  bound.transfer_seconds =
      static_cast<double>(bound.traffic) / rate_between(target, 0, target.between.size() + 1);
  return bound;
}

/// Heights of the last output's tiles: for each number of tiles the smallest, of many only some.
std::vector<std::int64_t> heights_of(std::int64_t rows) {
  std::vector<std::int64_t> heights;
  for (std::int64_t tiles = 1; tiles <= rows; tiles += std::max<std::int64_t>(1, tiles / 4)) {
    const std::int64_t height = (rows + tiles - 1) / tiles;
    if (heights.empty() || heights.back() != height) heights.push_back(height);
  }
  if (heights.back() != 1) heights.push_back(1);
  return heights;
}

}  // namespace

std::optional<ChainRows> chain_rows(std::span<const ChainMember> chain, std::int64_t tile) {
  const std::int64_t total = chain.back().rows.geometry.totals[at(Loop::row)];
  ChainRows rows;
  rows.tiles = (total + tile - 1) / tile;
  rows.written.resize(chain.size());
  rows.kept.resize(chain.size());
  rows.written.back() = {std::min(tile, total), tile, total - (rows.tiles - 1) * tile};
  for (std::size_t i = chain.size(); i-- > 0;) {
    const RowWindow window = row_window(chain[i]);
    const auto input = input_rows(window, rows.written[i], rows.tiles);
    if (!input) return std::nullopt;
    rows.kept[i] = input->kept;
    if (i > 0) {
      rows.written[i - 1] = input->written;
      continue;
    }
    rows.read = input->read;
    rows.first_step = input->written.first - input->kept;
    rows.next_step = input->written.middle;
  }
  return rows;
}

std::optional<ChainTiling> best_chain(const network::Network& network,
                                      std::span<const ChainMember> chain,
                                      const TileTarget& target) {
  std::optional<ChainTiling> best;
  for (const std::int64_t height : heights_of(chain.back().rows.geometry.totals[at(Loop::row)])) {
    const std::optional<ChainRows> rows = chain_rows(chain, height);
    if (!rows) continue;
    for (const bool overlapped : {false, true}) {
      if (overlapped && !target.may_overlap) continue;
      const auto scratchpad = static_cast<std::int32_t>(target.between.size() + 1);
      Workload workload = build_chain(network, chain, *rows, {scratchpad, overlapped});
      const TilingCost cost = cost_of_chain(workload, chain, *rows, target);
      if (!fits(cost, target)) continue;
      if (!best || cost.seconds < best->cost.seconds)
        best = ChainTiling{std::move(workload), cost, {}};
    }
  }
  if (best) best->bound = chain_bound(chain, target);
  return best;
}

}  // namespace millrace::workload
