#include "product/pipeline.h"

#include <utility>

#include "engine/registry.h"
#include "runtime/simulated_board.h"

namespace millrace::product {

Pipeline deploy(const plan::Plan& plan, network::Network network,
                const engine::EngineOptions& options) {
  return deploy(plan::Assessed{plan, plan::no_evidence(plan)}, std::move(network), options);
}

Pipeline deploy(const plan::PlanFile& file, network::Network network,
                const engine::EngineOptions& options) {
  return deploy(plan::Assessed{file.plan, file.evidence}, std::move(network), options);
}

Pipeline deploy(const plan::Assessed& assessed, network::Network network,
                const engine::EngineOptions& options) {
  const auto& [plan, evidence] = assessed;
  plan::check_evidence(evidence, plan);
  plan::Plan here = plan;
  auto parts = std::make_unique<Pipeline::Parts>();
  parts->network = std::move(network);
  parts->times = std::make_unique<runtime::RunTimes>();
  auto& engines = parts->engines;
  const std::vector<LayerId> simulated = runtime::simulated_layers(plan);
  if (!simulated.empty()) {
    const std::string name =
        engine::engine_for(parts->network, simulated, runtime::simulation_host());
    auto& computing = engines[name] = engine::make_engine(name, options);
    runtime::add_run_times(plan, evidence, 1, *parts->times);
    here = runtime::computed_here(plan, parts->network, *computing).plan;
    engines[plan::simulated_engine] = runtime::make_simulated_engine(*computing, *parts->times);
  }
  for (const plan::Stage& stage : plan.stages)
    if (auto& engine = engines[stage.engine]; !engine)
      engine = engine::make_engine(stage.engine, options);
  std::map<std::string, engine::Engine*> borrowed;
  for (const auto& [name, engine] : engines) borrowed[name] = engine.get();
  parts->session.emplace(runtime::deploy(here, parts->network, borrowed));
  return Pipeline(std::move(parts));
}

}  // namespace millrace::product
