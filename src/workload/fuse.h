#pragma once
// Inside the room: which layers become one workload.
#include <optional>
#include <vector>

#include "workload/compile.h"
#include "workload/geometry.h"

namespace millrace::workload {

/// A layer on its way to be a workload.
struct Piece {
  LayerTiling tiling;
  LayerGeometry geometry;
  bool moves = false;                  // transfers alone
  std::optional<LayerId> reader = {};  // of its output, if that is read by this layer only
  std::optional<Workload> fused = {};  // with the layers before it
  bool is_fused = false;               // into a later one
};

/// What it writes, its activation too.
TensorId output_of(const network::Network& network, const Piece& piece);

/// Cuts each row of layers that follow each other into the pieces that together are the fastest by
/// the model: dynamic programming over the places where to cut. The last layer of each takes over.
void fuse(const network::Network& network, std::vector<Piece>& pieces, const TileTarget& target);

}  // namespace millrace::workload
