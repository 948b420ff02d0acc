#include "workload/compile.h"

#include "workload/build.h"

namespace millrace::workload {
namespace {

/// One output that holds something, and no sums.
bool can_move(const network::Network& network, LayerId layer) {
  const network::Layer& moved = network[layer];
  return only_moves(moved.op) && moved.outputs.size() == 1 && moved.outputs[0].valid() &&
         network[moved.outputs[0]].size().count > 0;
}

void compile_layer(const network::Network& network, LayerId layer, const TileTarget& target,
                   Compiled& compiled) {
  LayerTiling found{layer};
  std::vector<Workload>& workloads = compiled.program.workloads;
  if (can_move(network, layer)) {
    workloads.push_back(build_moved(network, layer));
  } else {
    const LayerGeometry geometry = geometry_of(network, layer, target.element);
    found.tiled = geometry.operation != TileOperation::whole;
    if (found.tiled) {
      found.tiling = best_tiling(geometry, target, network[layer].name);
      found.cost = *cost_of(geometry, found.tiling, target);
      found.bound = lower_bound(geometry, target);
      workloads.push_back(build_tiled(network, layer, geometry, found.tiling));
    } else {
      workloads.push_back(build_whole(network, layer, geometry.remark));
    }
  }
  compiled.tilings.push_back(found);
}

}  // namespace

Compiled compile(const network::Network& network, std::span<const LayerId> layers,
                 const TileTarget& target) {
  Compiled compiled;
  compiled.program.network = network.name;
  compiled.program.network_hash = network::hash_of(network);
  compiled.program.memories = {{"main", Bytes{0}}, {"scratchpad", target.scratchpad}};
  for (const LayerId layer : layers) compile_layer(network, layer, target, compiled);
  return compiled;
}

Compiled compile(const network::Network& network, const TileTarget& target) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return compile(network, layers, target);
}

}  // namespace millrace::workload
