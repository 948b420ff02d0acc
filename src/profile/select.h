#pragma once
// From all that was measured to the times that a search works on.
#include <vector>

#include "profile/profile.h"

namespace millrace::profile {

/// One entry per processor: each layer, together with those that are fused with it, in the fastest
/// of these precisions. What it costs to convert between layers of different precision is not
/// counted. InputError if a processor was not measured in one of them.
Profile select(const Profile& profile, const std::vector<board::Precision>& precisions);

/// The same with each layer, by LayerId, in a precision of its own.
Profile select_by_layer(const Profile& profile, const std::vector<board::Precision>& precisions);

/// Adds what `more` has; entries for the same processor and precision are replaced.
void extend(Profile& profile, const Profile& more);

/// Layers that one of the profiles fuses, directly or through others, share a number: their first.
std::vector<std::size_t> fusion_groups_of(const std::vector<const std::vector<LayerTimes>*>& runs);

}  // namespace millrace::profile
