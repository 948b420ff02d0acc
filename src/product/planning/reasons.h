#pragma once
// Why layers are where they are.
#include <string>
#include <vector>

#include "product/planning/make_plan.h"

namespace millrace::product {

/// From what the choice was made. Borrowed.
struct Planned {
  const network::Network& network;
  const board::Board& board;
  const profile::Profile& profile;
  const std::string engine;
};

/// For each layer that the request names.
std::vector<explore::LayerReasons> reasons_of(const PlanRequest& request, const Planned& planned,
                                              const explore::Choice& choice);

}  // namespace millrace::product
