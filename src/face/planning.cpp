#include <fmt/format.h>

#include <utility>

#include "face/access.h"
#include "face/convert.h"
#include "face/verbs.h"
#include "product/planning/make_plan.h"
#include "product/profile_model.h"

namespace millrace::face {
namespace {

/// Names of values that the program holds.
constexpr const char* held_profile = "profile";
constexpr const char* held_calibration = "calibration";

product::Setup setup_of(const Model& model, const std::vector<std::string>& processors,
                    const std::string& engine) {
  product::Setup setup;
  setup.source = Access::of(model).source;
  setup.processors = processors;
  setup.engine = engine;
  return setup;
}

std::shared_ptr<product::InMemory> memory_for(const Model& model, const PlanRequest& given) {
  auto memory = memory_of(model);
  if (given.profile) memory->profiles[held_profile] = Access::of(*given.profile).profile;
  if (given.calibration)
    memory->calibrations[held_calibration] = std::make_shared<const network::Calibration>(
        Access::of(*given.calibration).table.calibration);
  return memory;
}

product::PlanRequest plan_request(const Model& model, const PlanRequest& given, Call& call) {
  product::PlanRequest request;
  request.setup = setup_of(model, given.processors, given.engine);
  request.setup.source.seed = given.seed;
  request.setup.context = call.context(memory_for(model, given));
  request.variants = {precisions_of(given.precisions), given.max_error};
  request.board = given.board;
  request.limits = given.limits;
  if (given.profile) request.profile = held_profile;
  request.search.method = given.search;
  request.measure_s = seconds(given.measuring);
  request.max_latency = given.max_latency;
  request.max_batch = given.max_batch;
  if (given.max_memory_bytes) request.max_memory = Bytes{*given.max_memory_bytes};
  request.streams = given.streams;
  if (given.max_loss) request.loss.max_loss = fmt::format("{}%", 100 * *given.max_loss);
  request.loss.frames = frames_of(given.samples);
  if (given.calibration) request.loss.calibration = held_calibration;
  return request;
}

std::vector<Candidate> candidates_of(const explore::Choice& choice) {
  std::vector<Candidate> result;
  for (std::size_t c = 0; c < choice.candidates.size(); ++c) {
    const explore::Candidate& from = choice.candidates[c];
    Candidate& candidate = result.emplace_back();
    candidate.name = from.name;
    candidate.predicted_period = explore::predicted_period(from);
    if (from.evidence.period > Time{}) candidate.measured_period = from.evidence.period;
    candidate.stages = static_cast<std::int64_t>(from.plan.stages.size());
    candidate.chosen = c == choice.best;
  }
  return result;
}

}  // namespace

Plan make_plan(const Model& model, const PlanRequest& given) {
  Call call(given.options);
  return guarded(call, [&] {
    product::PlanResult made = product::make_plan(plan_request(model, given, call));
    if (!made.refusal.empty()) refuse(made.refusal);
    std::vector<Candidate> candidates = candidates_of(made.choice());
    plan::PlanFile file = std::move(made.file);
    formats::ModelSource source = Access::of(model).source;
    source.divided.swap(file.origin.model.divided);
    file.origin.model = formats::absolute(source);
    const bool is_as_given = source.divided.empty();  // else layers are divided for want of memory
    const auto network = std::make_shared<const network::Network>(std::move(made.network));
    const Model planned = is_as_given ? model : Access::make<Model>(std::move(source), network);
    return Access::make<Plan>(planned, std::make_shared<const plan::PlanFile>(std::move(file)),
                              model.name() + ".plan.json", std::move(candidates), given.options);
  });
}

Profile make_profile(const Model& model, const ProfileRequest& given) {
  Call call(given.options);
  return guarded(call, [&] {
    product::ProfileRequest request;
    request.setup = setup_of(model, given.processors, given.engine);
    request.setup.source.seed = given.seed;
    request.setup.context = call.context(memory_of(model));
    request.variants = {precisions_of(given.precisions), given.max_error};
    request.fit.board = given.board;
    request.warmup = given.warmup;
    request.least = given.least_runs;
    request.duration_s = seconds(given.duration);
    request.fresh = given.fresh;
    request.batches = given.batches;
    return Access::make<Profile>(std::make_shared<const profile::Profile>(
        std::move(*product::profile_model(request).profile)));
  });
}

}  // namespace millrace::face
