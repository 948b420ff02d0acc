#pragma once
// The slots of a plan's tensors.
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace millrace::plan {

/// The channels that share slots: of one tensor, in one memory space.
using SlotsKey = std::pair<TensorId, std::string>;
inline SlotsKey slots_key(const Channel& channel) { return {channel.tensor, channel.space}; }

/// The plan with these capacities and, for the jitter of real stages, `slack` more slots of each
/// tensor that passes between stages or to and from the caller; see decision 17.
Plan with_slots(const Plan& plan, const std::vector<std::int64_t>& capacities, std::int64_t slack);

/// Size of all slots of all tensors, each tensor's counted once.
Bytes slot_bytes(const Plan& plan, const network::Network& network);

}  // namespace millrace::plan
