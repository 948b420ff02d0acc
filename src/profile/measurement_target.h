#pragma once
// Inside the profile room: what is measured, and where.
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "profile/measure.h"

namespace millrace::profile {

/// References are borrowed.
struct MeasurementTarget {
  const network::Network& network;
  engine::Engine& engine;
  const board::Processor& processor;
  const MeasureOptions& options;
  std::vector<int> cores = {};  // for what is not timed; none: the calling thread alone
  /// Of several layers that are measured together, where the memory holds no more; nothing: it
  /// does.
  std::optional<Bytes> most_weights = {};
};

/// By LayerId.
using Variants = std::vector<board::Variant>;

/// The layers as a subnet of their own, its inputs plain.
engine::SubnetRequest request_for(const MeasurementTarget& target,
                                  const std::vector<LayerId>& layers, const Variants& variants);

}  // namespace millrace::profile
