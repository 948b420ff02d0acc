#pragma once
// From a network and a memory hierarchy to a program of tiles.
#include "network/network.h"
#include "workload/tiling.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What the search found for a workload, beside what no tiling undercuts.
struct LayerTiling {
  LayerId layer;                           // of several the last
  std::vector<LayerId> before = {};        // whose outputs stay in the scratchpad, in order
  std::optional<LayerId> activation = {};  // that is computed with it
  bool tiled = false;                      // else it is moved or runs whole: no tiling, no cost
  Tiling tiling = {};                      // of one layer
  TilingCost cost = {};
  LowerBound bound = {};
};

struct Compiled {
  Program program;
  std::vector<LayerTiling> tilings;  // by workload
};

/// All layers, or those given, in this order. An activation after a convolution is computed with it
/// if nothing else reads what is between: no other layer, and it is not among `kept`. So are layers
/// that follow each other, where the model says that it is faster. InputError if
/// the scratchpad is too small for a tile of one of them. A layer without a kernel on tiles runs
/// whole, and its workload says why.
Compiled compile(const network::Network& network, const TileTarget& target);
struct LayerChoice {
  std::span<const LayerId> layers;
  std::span<const TensorId> kept = {};  // beside the network's outputs
  bool fuse = true;                     // layers that follow each other, where that is faster
};
Compiled compile(const network::Network& network, const LayerChoice& choice,
                 const TileTarget& target);

}  // namespace millrace::workload
