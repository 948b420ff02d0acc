#pragma once
// What a plan says of how it was made.
#include "product/planning/make_plan.h"

namespace millrace::product {

/// `profile`: whose times it has. `processing`: what a search counted with beside the network.
plan::Origin origin_of(const PlanRequest& request, const board::Board& board,
                       const profile::Profile& profile, const plan::ProcessingTimes& processing);

}  // namespace millrace::product
