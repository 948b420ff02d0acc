#include "workload/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "workload/build.h"
#include "workload/fuse.h"

namespace millrace::workload {
namespace {

/// Whether any of its outputs holds something.
bool makes_something(const network::Network& network, LayerId layer) {
  return std::ranges::any_of(network[layer].outputs, [&](TensorId id) {
    return id.valid() && network[id].size().count > 0;
  });
}

/// Files name buffers.
void make_names_unique(std::vector<Region>& buffers) {
  std::set<std::string> taken;
  for (Region& buffer : buffers) {
    const std::string base = buffer.name.empty() ? "tensor" : buffer.name;
    buffer.name = base;
    for (int number = 2; !taken.insert(buffer.name).second; ++number)
      buffer.name = fmt::format("{}_{}", base, number);
  }
}

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
    compiled.program.memories = {{"main", Bytes{0}}};
    for (const TileLevel& level : target_.between)
      compiled.program.memories.push_back({level.name, level.size});
    compiled.program.memories.push_back({"scratchpad", target_.scratchpad});
    for (Piece& piece : pieces_) {
      if (piece.is_fused) continue;
      compiled.program.workloads.push_back(workload_of(piece));
      make_names_unique(compiled.program.workloads.back().buffers);
      compiled.tilings.push_back(piece.tiling);
    }
    compiled.program.ends = ends();
    return compiled;
  }

 private:
  bool holds_something(TensorId id) const { return network_[id].size().count > 0; }

  bool is_chosen(LayerId layer) const {
    return std::ranges::find(choice_.layers, layer) != choice_.layers.end();
  }

  /// What the chosen layers read of others, and what others read of them.
  ProgramEnds ends() const {
    std::set<std::size_t> inputs, outputs;
    for (const LayerId layer : choice_.layers) {
      for (const TensorId id : data_inputs(network_, layer)) {
        const auto& producer = topology_.producer[id.index];
        if (holds_something(id) && (!producer || !is_chosen(*producer))) inputs.insert(id.index);
      }
      for (const TensorId id : network_[layer].outputs)
        if (id.valid() && holds_something(id) && is_wanted(id)) outputs.insert(id.index);
    }
    return {{inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}};
  }

  bool is_wanted(TensorId id) const {
    return topology_.is_output[id.index] ||
           std::ranges::find(choice_.kept, id) != choice_.kept.end() ||
           std::ranges::any_of(topology_.consumers[id.index],
                               [&](LayerId reader) { return !is_chosen(reader); });
  }

  void add_piece(LayerId layer) {
    if (!makes_something(network_, layer)) return;
    Piece piece;
    piece.tiling.layer = layer;
    piece.moves = can_move(network_, layer);
    if (!piece.moves) {
      piece.geometry = geometry_of(network_, layer, target_.element);
      if (piece.geometry.scaling && !notes_steps(piece.geometry)) {
        piece.geometry = {};
        piece.geometry.remark = "it reads a tensor in other steps than it was written in";
      }
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

  /// False: a tensor is known in other steps. Programs say of a tensor what its integers stand for.
  bool notes_steps(const LayerGeometry& geometry) {
    if (!multiplies(geometry.operation)) return true;
    const TileScaling& scaling = *geometry.scaling;
    std::map<std::size_t, TileSteps> known = steps_;
    const auto agrees = [&](const Operand& operand, const TileSteps& steps) {
      return known.try_emplace(operand.tensor.index, steps).first->second == steps;
    };
    const bool all = agrees(geometry.sources[0], scaling.input) &&
                     (scaling.by_channel || agrees(geometry.sources[1], scaling.weights)) &&
                     agrees(geometry.output, scaling.output);
    if (all) steps_ = std::move(known);
    return all;
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
    if (is_wanted(tensor) || readers.size() != 1) return std::nullopt;
    return readers[0];
  }

  void join_activation(Piece& piece) {
    if (piece.geometry.scaling) return;
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
  std::map<std::size_t, TileSteps> steps_;  // by tensor
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
