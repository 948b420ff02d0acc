#pragma once
// Why a layer is where it is.
#include <string>
#include <vector>

#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// What crosses between processors for each frame: every tensor once for each other processor that
/// reads it, in the precision of the layer that makes it.
Bytes crossing_bytes(const SearchContext& context, const plan::Mapping& mapping);

/// One sentence for each other processor: that it cannot run the layer, why, and who says so; or
/// how much slower the layer would be there, what would cross between processors, what the slowest
/// stage would take, and which limit of the board that would break.
std::vector<std::string> reasons(const SearchContext& context, const plan::Mapping& mapping,
                                 LayerId layer);

}  // namespace millrace::explore
