#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/open_model.h"
#include "api/tiles/tiles.h"
#include "base/error.h"
#include "base/file.h"
#include "board/shipped.h"

namespace millrace::api {
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

}  // namespace

workload::DeviceTarget tiles_target(const std::string& board) {
  if (!board.empty()) return workload::device_target(board::find_board(board), "");
  workload::DeviceTarget usual;
  usual.device = "core";
  usual.memory = "scratchpad";
  usual.megahertz = 1000;
  usual.costs = {100, 4, 8, 1};
  usual.target.macs_per_second = 8e9;
  usual.target.values_per_second = 1e9;
  usual.target.bytes_per_second = 4e9;
  usual.target.run_seconds = 1e-7;
  return usual;
}

MadeTiles make_tiles(const TilesRequest& request) {
  const network::Network network = open_model(request.model, request.context);
  workload::TileTarget target = tiles_target(request.board).target;
  if (request.scratchpad) target.scratchpad = *request.scratchpad;
  target.scratchpad = Bytes{target.scratchpad.count / request.parts};
  target.may_overlap = target.may_overlap || request.overlap;
  const std::vector<LayerId> layers = layers_of(network, request.layers);
  const auto begin = std::chrono::steady_clock::now();
  MadeTiles made{workload::compile(network, {layers, {}, request.fuse}, target)};
  made.search_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return made;
}

}  // namespace millrace::api
