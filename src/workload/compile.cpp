#include "workload/compile.h"

#include <algorithm>

#include "workload/build.h"

namespace millrace::workload {
namespace {

/// One output that holds something, and no sums.
bool can_move(const network::Network& network, LayerId layer) {
  const network::Layer& moved = network[layer];
  return only_moves(moved.op) && moved.outputs.size() == 1 && moved.outputs[0].valid() &&
         network[moved.outputs[0]].size().count > 0;
}

class ProgramCompiler {
 public:
  ProgramCompiler(const network::Network& network, const LayerChoice& choice,
                  const TileTarget& target)
      : network_(network), choice_(choice), target_(target), topology_(topology(network)) {}

  Compiled compile() {
    compiled_.program.network = network_.name;
    compiled_.program.network_hash = network::hash_of(network_);
    compiled_.program.memories = {{"main", Bytes{0}}, {"scratchpad", target_.scratchpad}};
    for (const LayerId layer : choice_.layers)
      if (std::ranges::find(joined_, layer) == joined_.end()) compile_layer(layer);
    return std::move(compiled_);
  }

 private:
  void compile_layer(LayerId layer) {
    LayerTiling found{layer};
    Workload workload;
    if (can_move(network_, layer)) {
      workload = build_moved(network_, layer);
    } else {
      LayerGeometry geometry = geometry_of(network_, layer, target_.element);
      found.tiled = geometry.operation != TileOperation::whole;
      workload = found.tiled ? compile_tiled(geometry, found)
                             : build_whole(network_, layer, geometry.remark);
    }
    compiled_.program.workloads.push_back(std::move(workload));
    compiled_.tilings.push_back(found);
  }

  Workload compile_tiled(LayerGeometry& geometry, LayerTiling& found) {
    if (multiplies(geometry.operation)) join_activation(geometry, found);
    found.tiling = best_tiling(geometry, target_, network_[found.layer].name);
    found.cost = *cost_of(geometry, found.tiling, target_);
    found.bound = lower_bound(geometry, target_);
    return build_tiled(network_, found.layer, geometry, found.tiling);
  }

  void join_activation(LayerGeometry& geometry, LayerTiling& found) {
    const TensorId between = network_[found.layer].outputs[0];
    const auto& readers = topology_.consumers[between.index];
    const bool is_kept = topology_.is_output[between.index] ||
                         std::ranges::find(choice_.kept, between) != choice_.kept.end();
    if (is_kept || readers.size() != 1) return;
    const bool is_chosen = std::ranges::find(choice_.layers, readers[0]) != choice_.layers.end();
    geometry.activation = is_chosen ? activation_of(network_[readers[0]].op) : std::nullopt;
    if (!geometry.activation) return;
    found.activation = readers[0];
    joined_.push_back(readers[0]);
    geometry.output.tensor = network_[readers[0]].outputs[0];
  }

  const network::Network& network_;
  const LayerChoice& choice_;
  const TileTarget& target_;
  network::Topology topology_;
  std::vector<LayerId> joined_;
  Compiled compiled_;
};

}  // namespace

Compiled compile(const network::Network& network, const LayerChoice& choice,
                 const TileTarget& target) {
  return ProgramCompiler(network, choice, target).compile();
}

Compiled compile(const network::Network& network, const TileTarget& target) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return compile(network, {layers}, target);
}

}  // namespace millrace::workload
