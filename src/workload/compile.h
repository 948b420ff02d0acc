#pragma once
// From a network and a memory hierarchy to a program of tiles.
#include "network/network.h"
#include "workload/tiling.h"
#include "workload/workload.h"

namespace millrace::workload {

/// What the search found for a layer, beside what no tiling undercuts.
struct LayerTiling {
  LayerId layer;
  bool tiled = false;  // else it is moved or runs whole: no tiling, no cost
  Tiling tiling = {};
  TilingCost cost = {};
  LowerBound bound = {};
};

struct Compiled {
  Program program;
  std::vector<LayerTiling> tilings;  // by workload
};

/// All layers, or those given, in this order. InputError if the scratchpad is too small for a tile
/// of one of them. A layer without a kernel on tiles runs whole, and its workload says why.
Compiled compile(const network::Network& network, const TileTarget& target);
Compiled compile(const network::Network& network, std::span<const LayerId> layers,
                 const TileTarget& target);

}  // namespace millrace::workload
