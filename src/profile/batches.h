#pragma once
// What layers that stream their weights from memory gain if they work on several frames at once.
#include "profile/measure.h"

namespace millrace::profile {

/// Whether the layer's time at one frame is mostly that of reading its weights: products with a
/// constant matrix that keep frames apart.
bool gains_by_batches(const network::Network& network, LayerId layer);

/// Whether every such layer of every processor has its times in batches.
bool has_batches(const Profile& profile, const network::Network& network);

/// Fills in `batches` of those that have none, each layer as a subnet of its own in its variant.
/// Precondition: the profile is of this network and engine.
void measure_batches(Profile& profile, const network::Network& network, engine::Engine& engine,
                     const MeasureOptions& options = {});

}  // namespace millrace::profile
