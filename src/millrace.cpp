#include "millrace.h"

#include "engine/registry.h"
#include "runtime/meanwhile.h"

namespace millrace {

profile::Profile measure(const network::Network& network, const board::Board& board,
                         const std::string& engine) {
  profile::MeasureOptions options;
  options.meanwhile = runtime::meanwhile;
  return profile::measure(network, board, *engine::make_engine(engine), options);
}

plan::Plan find_plan(const network::Network& network, const board::Board& board,
                     const profile::Profile& profile, const explore::ChooseOptions& options) {
  return explore::choose(network, board, profile, options).winner().plan;
}

Pipeline deploy(const plan::Plan& plan, const network::Network& network,
                const engine::EngineOptions& options) {
  Pipeline::Engines engines;
  std::map<std::string, engine::Engine*> borrowed;
  for (const plan::Stage& stage : plan.stages) {
    auto& engine = engines[stage.engine];
    if (!engine) engine = engine::make_engine(stage.engine, options);
    borrowed[stage.engine] = engine.get();
  }
  runtime::Session session = runtime::deploy(plan, network, borrowed);
  return {std::move(engines), std::move(session)};
}

}  // namespace millrace
