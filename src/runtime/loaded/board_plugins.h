#pragma once
// Plug-ins that compile here for another board.
#include <memory>
#include <string>
#include <vector>

#include "base/operation/context.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "network/network.h"
#include "plan/plan.h"
#include "profile/profile.h"

namespace millrace::runtime {

using Plugins = std::vector<std::unique_ptr<engine::Engine>>;

/// The plug-ins among the engines, joined as for make_engine(), that are none of the build.
Plugins plugins_among(const std::string& engines, const engine::EngineOptions& options);

/// Modelled times, without those of layers that a plug-in refuses on a device of its own.
profile::Profile within_plugins(profile::Profile profile, const network::Network& network,
                                const Plugins& plugins);

/// A plan for another board, whose stages are simulated here: those on devices of a plug-in name
/// that as their engine, so that they are compiled for the board and run there. Notes which of them
/// stay simulated, and why: with copies on cores too, or with layers that the plug-in refuses.
plan::Plan with_plugins(plan::Plan plan, const network::Network& network, const Plugins& plugins,
                        const Context& context);

}  // namespace millrace::runtime
