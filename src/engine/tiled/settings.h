#pragma once
// What --engine-option tiled.KEY=VALUE sets.
#include "engine/options.h"
#include "workload/tiling.h"

namespace millrace::engine::tiled {

struct TiledSettings {
  workload::TileTarget target;
  bool check = false;
  bool fuse = true;
  bool copy = false;  // on a second core
};

/// InputError naming the option.
TiledSettings settings_of(const EngineOptions& options);

}  // namespace millrace::engine::tiled
