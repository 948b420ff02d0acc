#include "product/planning/crops_plan.h"

#include "application/loaded/crops_at_work.h"
#include "explore/takeovers.h"
#include "plan/plan_file.h"
#include "product/open_model.h"
#include "profile/select.h"
#include "runtime/loaded/cluster.h"

namespace millrace::product {

std::optional<application::Crops> crops_to_plan(const application::Application& application) {
  const auto& crops = application.crops;
  return crops && crops->plan.empty() && crops->processor.empty() ? crops : std::nullopt;
}

network::Network network_of_crops(const PlanRequest& request) {
  const application::Crops& crops = *request.crops;
  formats::ModelSource model = crops.model;
  model.seed = request.setup.source.seed;
  return application::with_batch_of(open_model(model, request.setup.context), crops.batch,
                                    crops.batch_place);
}

PlanRequest request_of_crops(const PlanRequest& request) {
  PlanRequest alone;
  alone.setup = request.setup;
  alone.setup.source = request.crops->model;
  alone.setup.source.seed = request.setup.source.seed;
  alone.variants.max_error = request.variants.max_error;
  alone.board = request.board;
  alone.limits = request.limits;
  alone.search = request.search;
  alone.genetic = request.genetic;
  alone.measure_s = request.measure_s;
  alone.max_memory = request.max_memory;
  return alone;
}

std::int64_t runs_of(const application::Crops& crops) {
  return (crops.most + crops.batch - 1) / crops.batch;
}

bool are_planned_together(const PlanRequest& request) {
  return !request.by_hand.is_given() && !explore::is_configuration_search(request.search) &&
         !request.max_latency && request.streams == 1;
}

void add_takeovers(const PlanRequest& request, PlanResult& result) {
  const auto losses = runtime::losses_to_prepare_for(request.setup.context);
  if (losses.empty() || result.crops || !request.board.empty()) return;
  const PlanAttempt& last = result.attempts.back();
  const profile::Profile profile =
      last.precisions ? profile::select_by_layer(result.measured, last.precisions->precisions)
                      : profile::select(result.measured, precisions_of(request.variants));
  explore::Takeovers prepared = explore::takeovers(
      {result.network, result.board, profile, result.engine}, result.file, losses);
  result.takeovers = std::move(prepared.plans);
  for (const std::string& text : prepared.texts) request.setup.context.note(text);
}

void write_planned(const std::string& output, const PlanResult& result) {
  if (result.crops)
    plan::write_plans(output, {result.file, result.network},
                      {result.crops->file, result.crops->network});
  else
    plan::write_plan(output, {result.file, result.network}, result.takeovers);
}

}  // namespace millrace::product
