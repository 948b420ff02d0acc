#include "runtime/loaded/board_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/split.h"
#include "engine/registry.h"
#include "plan/variants.h"
#include "profile/limits.h"

namespace millrace::runtime {
namespace {

bool reaches(const engine::Engine& engine, const board::Processor& processor) {
  return processor.kind != board::ProcessorKind::cpu && engine.traits(processor).has_value();
}

/// Whether the engine reaches all processors of the stage, which are no cores, and runs all of it
/// there.
Verdict runs(const engine::Engine& engine, const network::Network& network,
             const plan::Stage& stage) {
  for (const board::Processor& processor : stage.processors) {
    if (!reaches(engine, processor))
      return Verdict::no("it has a copy on " + processor.name + " too");
    for (const plan::Phase& phase : stage.phases)
      if (Verdict verdict = engine.supports(network, phase.layers, processor); !verdict)
        return verdict;
  }
  return Verdict::yes();
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

plan::Plan with_plugins(plan::Plan plan, const network::Network& network, const Plugins& plugins,
                        const Context& context) {
  for (const auto& plugin : plugins) {
    const auto is_for_it = [&](const plan::Stage& stage) {
      const bool is_reached = std::ranges::any_of(
          stage.processors, [&](const auto& each) { return reaches(*plugin, each); });
      if (!is_reached) return false;
      const Verdict verdict = runs(*plugin, network, stage);
      if (!verdict)
        context.note(fmt::format("{} is not compiled for {}, but simulated: {}", stage.name,
                                 plugin->name(), verdict.reason()));
      return static_cast<bool>(verdict);
    };
    plan = plan::with_engine(plan, is_for_it, plugin->name());
  }
  return plan;
}

}  // namespace millrace::runtime
