#pragma once
// Layers as programs of tiles: each part of a tensor is copied into a scratchpad, computed there
// and copied back. docs/tiles.md explains it.
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::tiled {

/// Single-threaded on any processor; only plain tensors. Settings: "scratchpad_kib", by default the
/// size of the level-2 cache; "check": "yes" plays every program on marks before it runs, and
/// throws EngineError on what that finds. InputError on others.
std::unique_ptr<Engine> make(const EngineOptions& options = {});

}  // namespace millrace::engine::tiled
