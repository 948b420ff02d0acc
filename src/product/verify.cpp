#include "product/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfenv>
#include <cmath>

#include "base/error.h"
#include "base/operation/interruption_point.h"
#include "base/random.h"
#include "engine/registry.h"
#include "engine/tolerance.h"
#include "network/evaluate/nan_layer.h"
#include "plan/build.h"
#include "plan/steps.h"
#include "plan/variants.h"
#include "product/cache.h"
#include "runtime/compare.h"
#include "runtime/follow.h"
#include "runtime/loaded/cluster.h"
#include "runtime/loaded/simulated_stages.h"

namespace millrace::product {
namespace {

plan::Plan random_plan(const Loaded& loaded, const std::string& engine, Random& random) {
  const auto& processors = loaded.board.processors;
  const engine::Engine& runner = *loaded.engines.at(engine);
  plan::Mapping mapping;
  for (std::size_t i = 0; i < loaded.network.layers.size(); ++i) {
    const std::size_t drawn = random.below(processors.size());
    std::size_t taken = drawn;
    for (std::size_t next = 0; next < processors.size(); ++next) {
      taken = (drawn + next) % processors.size();
      if (runner.supports(loaded.network, LayerId(i), processors[taken])) break;
    }
    mapping.processors.emplace_back(taken);
  }
  plan::BuildOptions build;
  build.engine = engine;
  return plan::with_variants(plan::build(loaded.network, loaded.board, mapping, build),
                             {loaded.plan.variants, {}, loaded.plan.calibration});
}

double tolerance_of(const VerifyRequest& request, const plan::Plan& plan) {
  board::Precision lowest = runtime::precision_on_wire(plan, request.runnable.model.context);
  for (const board::Variant& variant : plan.variants) lowest = std::max(lowest, variant.precision);
  return request.tolerance.value_or(engine::tolerance_in(lowest));
}

/// All inputs are kept, and the results of both engines.
void check_that_frames_fit(const network::Network& network, std::size_t count) {
  constexpr Bytes most{std::int64_t{4} << 30};
  Bytes one{1};
  for (const TensorId input : network.inputs) one += network[input].size();
  for (const TensorId output : network.outputs) one += network[output].size() * 2;
  const auto fitting = static_cast<std::size_t>(most.count / one.count);
  if (count > fitting)
    throw InputError("verify", fmt::format("keeps all frames with their results in memory, at most "
                                           "{}; found {} frames, give at most {}",
                                           millrace::to_text(most), count, fitting));
}

runtime::Frames take_frames(const Loaded& loaded, const VerifyRequest& request) {
  application::FrameOptions frame_options = request.frames;
  // A full batch and a part of one; three frames if there are no batches.
  if (frame_options.inputs.empty() && frame_options.random == 0)
    frame_options.random = plan::round_of(loaded.plan) + 2;
  const std::uint64_t seed = request.runnable.model.source.seed;
  const application::Frames frames = application::open_frames(loaded.network, frame_options, seed);
  check_that_frames_fit(loaded.network, frames.count);
  runtime::Frames result;
  for (std::size_t i = 0; i < frames.count; ++i) result.push_back(frames.at(i).inputs);
  return result;
}

/// Compares plan after plan.
class Verification {
 public:
  Verification(const Loaded& loaded, const VerifyRequest& request)
      : loaded_(loaded),
        tolerance_(tolerance_of(request, loaded.plan)),
        forgives_rounding_(!request.tolerance.has_value()),
        frames_(take_frames(loaded, request)) {
    const auto engine = engine::make_engine(request.against, engine_options(loaded.context));
    runtime::Sequential sequential(loaded.network, *engine, loaded.board.processors.front());
    std::feclearexcept(FE_INVALID);
    for (const auto& frame : frames_) {
      interrupt_.check();
      references_.push_back(std::move(runtime::run_sequentially(sequential, {frame}).front()));
    }
    result_.network = loaded.network.name;
    if (std::fetestexcept(FE_INVALID) != 0)
      result_.nan_layer = network::nan_layer_of(loaded.network, frames_);
  }

  void add(const std::string& name, const plan::Plan& plan) {
    interrupt_.check();
    const runtime::Frames results =
        runtime::run_pipeline(plan, loaded_.network, loaded_.engine_pointers(), frames_);
    const runtime::Comparison comparison = runtime::compare(references_, results);
    VerifiedPlan& verified = result_.plans.emplace_back();
    verified.name = name;
    verified.stages = plan.stages.size();
    verified.replicas = plan::actors_in(plan);
    verified.phases = plan::phases_in(plan);
    verified.frames = static_cast<std::int64_t>(comparison.frames);
    verified.error = comparison.error;
    verified.bit_equal = comparison.bit_equal;
    verified.within_tolerance = comparison.error <= tolerance_;
    if (verified.within_tolerance || is_within_rounding(results, verified)) return;
    if (result_.equal()) result_.why = follow(plan, results, verified);
  }
  VerifyResult take() { return std::move(result_); }

 private:
  bool is_within_rounding(const runtime::Frames& results, VerifiedPlan& verified) {
    if (!forgives_rounding_) return false;
    if (!float64_) float64_.emplace(loaded_.network, frames_, references_);
    verified.from_float64 = float64_->beside(results);
    return verified.within_rounding = verified.from_float64->agrees(tolerance_);
  }

  /// What is wrong; empty: every part is right.
  std::string follow(const plan::Plan& plan, const runtime::Frames& results,
                     VerifiedPlan& verified) const {
    const auto engines = loaded_.engine_pointers();
    runtime::Frames made;
    for (const auto& frame : frames_) {
      runtime::Followed followed =
          runtime::follow({plan, loaded_.network, engines, forgives_rounding_}, frame, tolerance_);
      if (const auto& first = followed.difference)
        return fmt::format("the first layer that differs is {} on {}, by {:.1e}", first->layer,
                           first->stage, first->error);
      made.push_back(std::move(followed.outputs));
      for (const std::string& layer : followed.amplifiers)
        if (std::ranges::find(verified.amplifiers, layer) == verified.amplifiers.end())
          verified.amplifiers.push_back(layer);
    }
    if (runtime::compare(made, results).error > tolerance_)
      return "every part alone agrees; they differ when they run one after the other";
    if (!std::isfinite(verified.error))
      return "an output is no finite number where the other one is; every part alone agrees";
    verified.part_by_part = true;
    return {};
  }

  const Loaded& loaded_;
  InterruptGuard interrupt_{loaded_.context.interrupt};
  Interruptible loops_{interrupt_};  // of the reference: a frame may take a minute
  double tolerance_;
  bool forgives_rounding_;
  runtime::Frames frames_, references_;
  std::optional<runtime::Float64Reference> float64_;  // calculated when it is first needed
  VerifyResult result_;
};

std::string comparing_engine(const VerifyRequest& request, const Loaded& loaded) {
  if (!loaded.simulated.computing.empty()) return loaded.simulated.computing;
  return loaded.plan.stages.empty() ? engine_of(request.runnable.model)
                                    : loaded.plan.stages[0].engine;
}

}  // namespace

VerifyResult verify(const VerifyRequest& request) {
  RunnableOptions runnable = request.runnable;
  runnable.time_scale = 0;  // results alone matter
  const auto loaded = load_runnable(runnable);
  note_simulation(*loaded);
  const std::string engine = comparing_engine(request, *loaded);
  if (!loaded->engines.contains(engine))
    loaded->engines[engine] = engine::make_engine(engine, engine_options(loaded->context));
  Verification verification(*loaded, request);
  const std::string& file = runnable.model.source.file;
  verification.add(is_plan_file(file) ? file : "one processor", loaded->plan);
  Random random(runnable.model.source.seed);
  for (int i = 0; i < request.mappings; ++i)
    verification.add(fmt::format("random mapping {}", i + 1), random_plan(*loaded, engine, random));
  VerifyResult result = verification.take();
  if (!result.equal() && loaded->plan.calibration && request.frames.inputs.empty())
    result.why += "; the frames are random, and int8 has the ranges of others: give ⟨input⟩";
  return result;
}

}  // namespace millrace::product
