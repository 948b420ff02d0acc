#pragma once
// Inside the profile room: what is measured, and where.
#include <vector>

#include "engine/engine.h"
#include "profile/measure.h"

namespace millrace::profile {

/// References are borrowed.
struct Subject {
  const network::Network& network;
  engine::Engine& engine;
  const board::Processor& processor;
  const MeasureOptions& options;
  std::vector<int> cores = {};  // for what is not timed; none: the calling thread alone
};

/// By LayerId.
using Variants = std::vector<board::Variant>;

/// The layer as a subnet of its own, its inputs plain.
engine::SubnetRequest request_for_layer(const Subject& subject, LayerId layer,
                                        const Variants& variants);

}  // namespace millrace::profile
