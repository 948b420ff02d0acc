#pragma once
// Layers that a plug-in computes one by one, for whoever has no loops for them.
#include <memory>
#include <string>

#include "engine/options.h"
#include "network/operators/opaque.h"

namespace millrace::engine::plugin {

/// Of the plug-in, which can start. Prepared layers are kept for the next frame; several threads
/// have one each.
std::shared_ptr<const network::OperatorOwner> make_owner(const std::string& name,
                                                         const EngineOptions& options);

}  // namespace millrace::engine::plugin
