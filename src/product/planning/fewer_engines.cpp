#include "product/planning/fewer_engines.h"

#include <algorithm>

#include "board/board.h"
#include "engine/registry.h"
#include "plan/variants.h"
#include "product/cache.h"

namespace millrace::product {
namespace {

/// A core of each kind that this machine has, and what runs the plan's stages.
std::vector<board::Processor> processors_of(const plan::Plan& plan) {
  std::vector<board::Processor> processors;
  for (const board::Device& cores : board::this_machine().devices)
    processors.push_back(board::processors_of(cores).front());
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors)
      if (std::ranges::find(processors, processor) == processors.end())
        processors.push_back(processor);
  return processors;
}

/// Whether `fewer` runs each layer that `all` run.
bool replaces(const engine::Engine& fewer, const engine::Engine& all,
              const network::Network& network, const board::Processor& processor) {
  for (std::size_t i = 0; i < network.layers.size(); ++i)
    if (!fewer.supports(network, LayerId(i), processor) &&
        all.supports(network, LayerId(i), processor))
      return false;
  return true;
}

}  // namespace

plan::Plan with_fewer_engines(const plan::Plan& plan, const network::Network& network,
                              const engine::Engine& engine, const millrace::Context& context) {
  plan::Plan result = plan::with_used_engines(plan);
  if (result == plan) return plan;
  const auto fewer = engine::make_engine(result.stages.front().engine, measuring_options(context));
  const auto is_enough = [&](const board::Processor& processor) {
    return replaces(*fewer, engine, network, processor);
  };
  const auto has_these = [&](const plan::Stage& stage) { return stage.engine == fewer->name(); };
  return std::ranges::all_of(result.stages, has_these) &&
                 std::ranges::all_of(processors_of(plan), is_enough)
             ? result
             : plan;
}

}  // namespace millrace::product
