#pragma once
// Several frames at once: their tensors joined along the first dimension, one behind the other in
// memory.
#include <cstdint>
#include <span>

#include "base/verdict.h"
#include "network/network.h"

namespace millrace::network {

/// Whether the layer makes of joined frames the joined results of each. The reason says what mixes
/// them.
Verdict can_batch(const Network& network, LayerId layer);

/// The same network, in which all that the layers read and make, but for constants, holds `frames`
/// frames. Its other layers do not fit their tensors any more. Constants are shared. Precondition:
/// can_batch for each of the layers.
Network with_batch(const Network& network, std::span<const LayerId> layers, std::int64_t frames);

}  // namespace millrace::network
