#pragma once
// Layers as programs of tiles: each part of a tensor is copied into a scratchpad, computed there
// and copied back. docs/methods/tiles.md explains it.
#include <memory>

#include "engine/engine.h"
#include "engine/options.h"

namespace millrace::engine::tiled {

/// On any processor; only plain tensors. Settings: "scratchpad_kib", by default the size of the
/// level-2 cache, and "parts", into how many parts networks divide it; "check": "yes" plays every
/// program on marks before it runs, and throws EngineError on what that finds; "fuse": "no"
/// computes layer by layer; "copy": "yes" lets the second core of a processor move tiles, else one
/// thread does all. InputError on others.
std::unique_ptr<Engine> make(const EngineOptions& options = {});

}  // namespace millrace::engine::tiled
