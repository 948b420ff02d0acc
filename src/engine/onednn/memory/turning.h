#pragma once
// Conversions between dense layouts by a loop of our own, which is faster than oneDNN's reorders.
#include <optional>

#include "engine/onednn/primitives/layout.h"
#include "kernels/plain/turn.h"

namespace millrace::engine::onednn {

/// Nothing unless both are dense layouts of float32 and the loop is fast between them.
std::optional<kernels::Turn> fast_turn(const Desc& from, const Desc& to);

}  // namespace millrace::engine::onednn
