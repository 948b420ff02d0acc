#include "engine/arena.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "network/tensor.h"

namespace millrace::engine {
namespace {

struct Placed {
  std::int64_t begin, end;  // in the arena
};

Bytes aligned(Bytes size) {
  constexpr auto unit = static_cast<std::int64_t>(network::tensor_alignment);
  return Bytes{(size.count + unit - 1) / unit * unit};
}

bool at_once(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The beginning of the tightest gap between the occupied ranges (sorted by beginning), or the
/// end of them all.
std::int64_t tightest_gap(const std::vector<Placed>& occupied, std::int64_t size) {
  std::int64_t best = -1, best_gap = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const Placed& range : occupied) {
    const std::int64_t gap = range.begin - end;
    if (gap >= size && gap < best_gap) {
      best = end;
      best_gap = gap;
    }
    end = std::max(end, range.end);
  }
  return best >= 0 ? best : end;
}

}  // namespace

ArenaPlan plan_arena(std::span<const BufferLife> buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].size > buffers[b].size; });
  ArenaPlan plan{std::vector<Bytes>(buffers.size()), {}};
  std::vector<std::size_t> done;
  for (const std::size_t buffer : order) {
    std::vector<Placed> occupied;
    for (const std::size_t other : done)
      if (at_once(buffers[buffer], buffers[other]))
        occupied.push_back({plan.offsets[other].count,
                            plan.offsets[other].count + aligned(buffers[other].size).count});
    std::sort(occupied.begin(), occupied.end(),
              [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    const std::int64_t size = aligned(buffers[buffer].size).count;
    plan.offsets[buffer].count = tightest_gap(occupied, size);
    plan.size = std::max(plan.size, Bytes{plan.offsets[buffer].count + size});
    done.push_back(buffer);
  }
  return plan;
}

}  // namespace millrace::engine
