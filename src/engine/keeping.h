#pragma once
// Subnets that outlive the plan they were prepared for, so that the next plan with the same one
// need not prepare it again: searches measure many plans that differ in one stage.
#include <memory>

#include "engine/engine.h"

namespace millrace::engine {

/// Subnets that are prepared and not in use; the oldest goes first.
inline constexpr std::size_t most_kept = 64;

/// As `engine`, which is borrowed, but a subnet that is no longer used is kept, and given to who
/// asks for the same: network, processor, layers, layouts and variants. Outlives its subnets.
std::unique_ptr<Engine> make_keeping_engine(Engine& engine);

}  // namespace millrace::engine
