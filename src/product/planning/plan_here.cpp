#include "product/planning/plan_here.h"

#include "engine/registry.h"
#include "product/cache.h"
#include "product/planning/make_plan.h"
#include "runtime/loaded/simulated_stages.h"

namespace millrace::product {

namespace {

void take_with_engines(Loaded& loaded, plan::PlanFile file) {
  take(loaded, std::move(file));
  for (const plan::Stage& stage : loaded.plan.stages)
    if (!loaded.engines.contains(stage.engine))
      loaded.engines[stage.engine] =
          engine::make_engine(stage.engine, engine_options(loaded.context));
}

}  // namespace

void plan_here(Loaded& loaded, const Setup& setup) {
  if (loaded.plan.stages.empty()) return;
  if (loaded.board.processors.size() < 2) return choose_variants(loaded);
  take_with_engines(loaded, make_plan({.setup = setup}).file);
}

void plan_here(Loaded& loaded, const Setup& setup, const CropsHere& crops) {
  if (loaded.plan.stages.empty() || loaded.board.processors.size() < 2)
    return plan_here(loaded, setup);
  PlanRequest request{.setup = setup};
  request.crops = crops.crops;
  PlanResult planned = make_plan(request);
  take_with_engines(loaded, std::move(planned.file));
  if (planned.crops) take_with_engines(crops.loaded, std::move(planned.crops->file));
}

}  // namespace millrace::product
