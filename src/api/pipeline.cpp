#include "api/pipeline.h"

#include "runtime/background_load.h"
#include "runtime/parallel.h"
#include "runtime/simulated_board.h"

namespace millrace::api {

profile::Profile measure(const network::Network& network, const board::Board& board,
                         const std::string& engine) {
  profile::MeasureOptions options;
  options.under_background_load = runtime::under_background_load;
  options.in_parallel = runtime::in_parallel;
  return profile::measure(network, board, *engine::make_engine(engine), options);
}

plan::Assessed find_plan(const network::Network& network, const board::Board& board,
                         const profile::Profile& profile, const explore::ChooseOptions& options) {
  explore::ChooseOptions chosen = options;
  if (chosen.build.engine.empty()) chosen.build.engine = engine::engine_names().front();
  const explore::Choice choice = explore::choose(network, board, profile, chosen);
  return {choice.winner().plan, choice.winner().evidence};
}

Pipeline deploy(const plan::Plan& plan, const network::Network& network,
                const engine::EngineOptions& options) {
  return deploy(plan::Assessed{plan, plan::no_evidence(plan)}, network, options);
}

Pipeline deploy(const plan::PlanFile& file, const network::Network& network,
                const engine::EngineOptions& options) {
  return deploy(plan::Assessed{file.plan, file.evidence}, network, options);
}

Pipeline deploy(const plan::Assessed& assessed, const network::Network& network,
                const engine::EngineOptions& options) {
  const auto& [plan, evidence] = assessed;
  plan::check_evidence(evidence, plan);
  plan::Plan here = plan;
  Pipeline::Engines engines;
  const std::vector<LayerId> simulated = runtime::simulated_layers(plan);
  auto times = std::make_unique<runtime::RunTimes>();
  if (!simulated.empty()) {
    const std::string name = engine::engine_for(network, simulated, runtime::simulation_host());
    auto& computing = engines[name] = engine::make_engine(name, options);
    runtime::add_run_times(plan, evidence, 1, *times);
    here = runtime::computed_here(plan, network, *computing).plan;
    engines[plan::simulated_engine] = runtime::make_simulated_engine(*computing, *times);
  }
  for (const plan::Stage& stage : plan.stages)
    if (auto& engine = engines[stage.engine]; !engine)
      engine = engine::make_engine(stage.engine, options);
  std::map<std::string, engine::Engine*> borrowed;
  for (const auto& [name, engine] : engines) borrowed[name] = engine.get();
  runtime::Session session = runtime::deploy(here, network, borrowed);
  return {std::move(engines), std::move(times), std::move(session)};
}

}  // namespace millrace::api
