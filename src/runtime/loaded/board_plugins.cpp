#include "runtime/loaded/board_plugins.h"

#include <algorithm>
#include <utility>

#include "base/split.h"
#include "engine/registry.h"
#include "plan/variants.h"
#include "profile/limits.h"

namespace millrace::runtime {
namespace {

/// Whether the engine reaches the stage's processors, which are no cores, and runs all of it there.
bool runs(const engine::Engine& engine, const network::Network& network, const plan::Stage& stage) {
  return std::ranges::all_of(stage.processors, [&](const board::Processor& processor) {
    return processor.kind != board::ProcessorKind::cpu && engine.traits(processor) &&
           std::ranges::all_of(stage.phases, [&](const plan::Phase& phase) {
             return static_cast<bool>(engine.supports(network, phase.layers, processor));
           });
  });
}

}  // namespace

Plugins plugins_among(const std::string& engines, const engine::EngineOptions& options) {
  Plugins plugins;
  for (const std::string& words : split(engines, ',')) {
    const std::string name = split(words, '@').front();
    if (engine::names_plugin(name)) plugins.push_back(engine::make_engine(name, options));
  }
  return plugins;
}

profile::Profile within_plugins(profile::Profile profile, const network::Network& network,
                                const Plugins& plugins) {
  for (const auto& plugin : plugins)
    profile = profile::within_engine(std::move(profile), network, *plugin);
  return profile;
}

plan::Plan with_plugins(plan::Plan plan, const network::Network& network, const Plugins& plugins) {
  for (const auto& plugin : plugins)
    plan = plan::with_engine(
        plan, [&](const plan::Stage& stage) { return runs(*plugin, network, stage); },
        plugin->name());
  return plan;
}

}  // namespace millrace::runtime
