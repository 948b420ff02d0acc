#include "workload/compile.h"

#include <algorithm>

#include "workload/build.h"
#include "workload/fuse.h"

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
    for (const LayerId layer : choice_.layers)
      if (std::ranges::find(joined_, layer) == joined_.end()) add_piece(layer);
    if (choice_.fuse) fuse(network_, pieces_, target_);
    Compiled compiled;
    compiled.program.network = network_.name;
    compiled.program.network_hash = network::hash_of(network_);
    compiled.program.memories = {{"main", Bytes{0}}, {"scratchpad", target_.scratchpad}};
    for (Piece& piece : pieces_) {
      if (piece.is_fused) continue;
      compiled.program.workloads.push_back(workload_of(piece));
      compiled.tilings.push_back(piece.tiling);
    }
    return compiled;
  }

 private:
  void add_piece(LayerId layer) {
    Piece piece;
    piece.tiling.layer = layer;
    piece.moves = can_move(network_, layer);
    if (!piece.moves) {
      piece.geometry = geometry_of(network_, layer, target_.element);
      piece.tiling.tiled = piece.geometry.operation != TileOperation::whole;
    }
    if (multiplies(piece.geometry.operation)) join_activation(piece);
    if (piece.tiling.tiled) {
      piece.tiling.tiling = best_tiling(piece.geometry, target_, network_[layer].name);
      piece.tiling.cost = *cost_of(piece.geometry, piece.tiling.tiling, target_);
      piece.tiling.bound = lower_bound(piece.geometry, target_);
    }
    piece.reader = only_reader(output_of(network_, piece));
    pieces_.push_back(std::move(piece));
  }

  Workload workload_of(Piece& piece) const {
    const LayerId layer = piece.tiling.layer;
    if (piece.fused) return std::move(*piece.fused);
    if (piece.moves) return build_moved(network_, layer);
    if (!piece.tiling.tiled) return build_whole(network_, layer, piece.geometry.remark);
    return build_tiled(network_, layer, piece.geometry, piece.tiling.tiling);
  }

  /// Nothing if what is read by one layer only has to be there later.
  std::optional<LayerId> only_reader(TensorId tensor) const {
    if (!tensor.valid()) return std::nullopt;
    const auto& readers = topology_.consumers[tensor.index];
    const bool is_kept = topology_.is_output[tensor.index] ||
                         std::ranges::find(choice_.kept, tensor) != choice_.kept.end();
    if (is_kept || readers.size() != 1) return std::nullopt;
    const bool is_chosen = std::ranges::find(choice_.layers, readers[0]) != choice_.layers.end();
    return is_chosen ? std::optional(readers[0]) : std::nullopt;
  }

  void join_activation(Piece& piece) {
    const std::optional<LayerId> reader = only_reader(network_[piece.tiling.layer].outputs[0]);
    if (reader) piece.geometry.activation = activation_of(network_[*reader].op);
    if (!piece.geometry.activation) return;
    piece.tiling.activation = reader;
    joined_.push_back(*reader);
    piece.geometry.output.tensor = network_[*reader].outputs[0];
  }

  const network::Network& network_;
  const LayerChoice& choice_;
  const TileTarget& target_;
  network::Topology topology_;
  std::vector<LayerId> joined_;
  std::vector<Piece> pieces_;
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
