#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/file.h"
#include "board/shipped.h"
#include "workload/tiles/tiles.h"

namespace millrace::workload {
namespace {

std::vector<LayerId> layers_of(const network::Network& network,
                               const std::vector<std::string>& names) {
  std::vector<LayerId> layers;
  std::vector<std::string_view> known;
  for (const network::Layer& layer : network.layers) known.push_back(layer.name);
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      throw InputError(network.name,
                       fmt::format("there is no layer '{}'{}", name, did_you_mean(name, known)));
    layers.emplace_back(static_cast<std::size_t>(found - known.begin()));
  }
  if (names.empty())
    for (std::size_t i = 0; i < known.size(); ++i) layers.emplace_back(i);
  return layers;
}

/// The sizes that were asked for, and of each memory one part.
void set_memories(const TilesRequest& request, TileTarget& target) {
  const std::vector<Bytes>& sizes = request.memories;
  auto& between = target.between;
  if (sizes.size() > between.size() + 1)
    throw InputError(
        "⟨scratchpad_kib⟩",
        fmt::format("found {} sizes, expected at most {}: {}", sizes.size(), between.size() + 1,
                    request.board.empty() ? "programs have no more fast memories"
                                          : "the board's device has no more fast memories"));
  if (!sizes.empty()) {
    const std::size_t missing = between.size() + 1 - sizes.size();
    const double rate = rate_between(target, 0, missing + 1);
    between.erase(between.begin(), between.begin() + static_cast<std::ptrdiff_t>(missing));
    (between.empty() ? target.bytes_per_second : between.front().bytes_per_second) = rate;
    for (std::size_t i = 0; i < between.size(); ++i) between[i].size = sizes[i];
    target.scratchpad = sizes.back();
  }
  for (TileLevel& level : between) level.size = Bytes{level.size.count / request.parts};
  target.scratchpad = Bytes{target.scratchpad.count / request.parts};
}

}  // namespace

DeviceTarget tiles_target(const std::string& board, std::size_t fast_memories) {
  if (!board.empty()) return device_target(board::find_board(board), "");
  DeviceTarget usual;
  usual.device = "core";
  usual.memory = "scratchpad";
  usual.megahertz = 1000;
  usual.costs = {100, 4, 8, 1, {4}};
  usual.target.macs_per_second = 8e9;
  usual.target.values_per_second = 1e9;
  usual.target.bytes_per_second = 4e9;
  usual.target.run_seconds = 1e-7;
  for (std::size_t more = 1; more < std::min(fast_memories, max_between + 1); ++more) {
    usual.target.between.push_back(
        {fmt::format("memory{}", more), Bytes{0}, usual.target.bytes_per_second});
    usual.target.bytes_per_second *= 2;
    usual.costs.ways.push_back(2 * usual.costs.ways.back());
  }
  return usual;
}

MadeTiles make_tiles(const network::Network& network, const TilesRequest& request) {
  TileTarget target = tiles_target(request.board, request.memories.size()).target;
  set_memories(request, target);
  target.may_overlap = target.may_overlap || request.overlap;
  const std::vector<LayerId> layers = layers_of(network, request.layers);
  const auto begin = std::chrono::steady_clock::now();
  MadeTiles made{compile(network, {layers, {}, request.fuse}, target)};
  made.search_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

}  // namespace millrace::workload
