#pragma once
// What a search over configurations counts with beside the network.
#include "engine/engine.h"
#include "product/planning/make_plan.h"

namespace millrace::product {

/// Nothing but for searches over configurations. What the options give; else, of an application,
/// what the journal says that the search goes on from, or what is measured now on this machine,
/// with a note. `network`: the application's.
plan::ProcessingTimes processing_for(const PlanRequest& request, const network::Network& network,
                                     engine::Engine& engine);

}  // namespace millrace::product
