#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workload/levels.h"

namespace millrace::workload {
namespace {

/// Tile sizes worth trying: for each number of tiles the smallest, of many numbers only some.
std::vector<std::int64_t> sizes_of(const LayerGeometry& geometry, Loop loop) {
  const std::int64_t total = geometry.totals[at(loop)];
  if (!geometry.cuts[at(loop)]) return {1};
  std::vector<std::int64_t> sizes;
  for (std::int64_t tiles = 1; tiles <= total; tiles += std::max<std::int64_t>(1, tiles / 3)) {
    const std::int64_t size = (total + tiles - 1) / tiles;
    if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
  }
  if (sizes.back() != 1) sizes.push_back(1);
  return sizes;
}

/// Channels go by multiples of eight where they are many: kernels are faster so.
std::vector<std::int64_t> channel_sizes(const LayerGeometry& geometry, Loop loop) {
  std::vector<std::int64_t> sizes = sizes_of(geometry, loop);
  const std::int64_t total = geometry.totals[at(loop)];
  for (std::int64_t& size : sizes)
    if (size > 8) size = std::min(total, (size + 7) / 8 * 8);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

class TilingSearch {
 public:
  TilingSearch(const LayerGeometry& geometry, const TileTarget& target)
      : geometry_(geometry), target_(target) {}

  void run() {
    const auto groups = channel_sizes(geometry_, Loop::group);
    const auto outs = channel_sizes(geometry_, Loop::out);
    const auto depths = channel_sizes(geometry_, Loop::depth);
    for (const std::int64_t group : groups)
      for (const std::int64_t out : outs)
        for (const std::int64_t depth : depths) try_planes({1, group, out, 1, 1, depth});
  }

  std::optional<Tiling> best;
  std::int64_t least = -1;  // bytes of the smallest tiling

 private:
  void try_planes(ByLoop tile) {
    for (const std::int64_t col : sizes_of(geometry_, Loop::col)) {
      tile[at(Loop::col)] = col;
      for (const std::int64_t row : sizes_of(geometry_, Loop::row)) {
        tile[at(Loop::row)] = row;
        try_orders(tile);
      }
      // Narrow tiles are of use only if a single row does not fit.
      if (best && fits_row_) return;
    }
  }

  void try_orders(const ByLoop& tile) {
    for (const bool rows_outside : {false, true})
      for (const bool overlapped : {false, true})
        if (!overlapped || target_.may_overlap) nest({tile, rows_outside, overlapped});
  }

  void nest(Tiling tiling) {
    tiling.memories = target_.between.size() + 1;
    if (tiling.memories == 1) return attempt(tiling);
    if (best && kernel_seconds(geometry_, tiling, target_) >= best_.seconds) return;
    for (const Tiling& nested : nestings_of(geometry_, tiling)) attempt(nested);
  }

  void attempt(const Tiling& tiling) {
    const std::optional<TilingCost> cost = cost_of(geometry_, tiling, target_);
    if (!cost) return;
    if (least < 0 || cost->scratch < least) least = cost->scratch;
    if (!fits(*cost, target_)) return;
    fits_row_ = true;
    const bool better = !best || cost->seconds < best_.seconds ||
                        (cost->seconds == best_.seconds && cost->traffic < best_.traffic);
    if (!better) return;
    best = tiling;
    best_ = *cost;
  }

  const LayerGeometry& geometry_;
  const TileTarget& target_;
  TilingCost best_;
  bool fits_row_ = false;
};

}  // namespace

Tiling best_tiling(const LayerGeometry& geometry, const TileTarget& target,
                   const std::string& name) {
  TilingSearch search(geometry, target);
  search.run();
  if (search.best) return *search.best;
  throw InputError(name, fmt::format("the scratchpad has {} bytes; the smallest tile of this layer "
                                     "needs {}",
                                     target.scratchpad.count, search.least));
}

}  // namespace millrace::workload
