#pragma once
// Inside the combined engine: its subnets.
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace millrace::engine {

/// `engines` and `variants` by LayerId of the whole network; an engine is borrowed and may be null
/// for layers that are not in the request. `variants` as their engines call them; they may be
/// empty.
std::unique_ptr<Subnet> prepare_combined(const SubnetRequest& request,
                                         const std::vector<Engine*>& engines,
                                         std::vector<board::Variant> variants);

}  // namespace millrace::engine
