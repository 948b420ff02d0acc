#include "product/planning/precision.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/quantity.h"
#include "explore/precision/lowerings.h"
#include "network/calibration_file.h"
#include "product/memory/in_memory.h"
#include "product/planning/answers.h"
#include "product/planning/application_loss.h"
#include "profile/calibrate.h"
#include "profile/calibration/scenes.h"
#include "profile/loss.h"
#include "profile/measure.h"

namespace millrace::product {
namespace {

using board::Precision;
using board::Variant;
using explore::PrecisionChoice;

bool holds(const std::vector<Precision>& precisions, Precision precision) {
  return std::find(precisions.begin(), precisions.end(), precision) != precisions.end();
}

profile::Samples open_samples(const PrecisionRequest& request) {
  if (request.samples != nullptr) return request.samples->samples;
  if (request.options->frames.inputs.empty())
    request.context.note(
        "warning: inputs are random; real inputs have other ranges and losses; give ⟨input⟩");
  return application::samples_of(
      *request.network,
      application::open_frames(*request.network, request.options->frames, request.seed));
}

profile::Execution execution_of(const PrecisionRequest& request) {
  return {request.network, request.engine,
          (request.is_here ? *request.board : board::this_machine()).processors.front()};
}

/// As the profile found it best, on the first processor.
std::vector<Variant> variants_of(const profile::Profile& measured,
                                 const std::vector<Precision>& precisions) {
  std::vector<Variant> variants(precisions.size());
  const board::Processor& first = measured.processors.front().processor;
  for (const profile::ProcessorProfile& p : measured.processors)
    for (std::size_t i = 0; i < precisions.size(); ++i)
      if (p.processor == first && p.precision == precisions[i]) variants[i] = p.layers[i].variant;
  return variants;
}

/// InputError if no processor has int8, so that nobody waits for ranges that nothing needs.
void check_int8(const PrecisionRequest& request) {
  std::string reason;
  for (const board::Processor& processor : request.board->processors) {
    const Verdict verdict =
        profile::offers(*request.network, *request.engine, processor, Precision::int8);
    if (verdict) return;
    if (reason.empty()) reason = verdict.reason();
  }
  throw InputError("⟨precision⟩ int8", reason);
}

/// By the application's measure, or by what the outputs answer.
void set_measure(profile::LossMeter& meter, const PrecisionRequest& request) {
  if (request.samples != nullptr)
    return compare_by_application(meter, *request.samples, request.context);
  compare_by_answers(meter, *request.network);
}

}  // namespace

bool LossOptions::has_frames(const std::vector<Precision>& precisions) const {
  if (!frames.inputs.empty() || frames.random > 0) return true;
  const bool needs_ranges = holds(precisions, Precision::int8) && calibration.empty();
  return !application.file.empty() &&
         (!max_loss.empty() || !application.labels_from.empty() || needs_ranges);
}

std::unique_ptr<ApplicationSamples> samples_for(const PrecisionRequest& request) {
  const LossOptions& options = *request.options;
  if (!options.has_frames(request.precisions) ||
      !is_of_application(options.application, options.frames))
    return nullptr;
  return open_application_samples(options.application, options.frames, *request.network,
                                  request.context);
}

void check_loss(const LossOptions& options, const std::vector<Precision>& precisions) {
  const std::string budget = "⟨max_loss⟩ " + options.max_loss;
  const bool int8 = holds(precisions, Precision::int8);
  const bool has_frames = options.has_frames(precisions);
  if (!options.max_loss.empty()) read_share(options.max_loss, "⟨max_loss⟩");
  if (!options.max_loss.empty() && !has_frames)
    throw InputError(budget, "the loss is measured on frames; give them with ⟨input⟩ FOLDER");
  if (!options.max_loss.empty() && precisions == std::vector{Precision::f32})
    throw InputError(budget,
                     "float32 alone loses nothing; allow lower precisions, such as "
                     "⟨precision⟩ f32,bf16");
  if (int8 && options.calibration.empty() && !has_frames)
    throw InputError("⟨precision⟩ int8",
                     "needs the ranges of all tensors; give ⟨calibration⟩ TABLE (from `millrace "
                     "calibrate`) or frames to find them on, ⟨input⟩ FOLDER");
  if (!int8 && !options.calibration.empty())
    throw InputError("⟨calibration⟩ " + options.calibration,
                     "only int8 needs it; leave it out or add ⟨precision⟩ f32,int8");
  if (has_frames && precisions == std::vector{Precision::f32})
    throw InputError("⟨input⟩",
                     "nothing is measured on the frames; allow lower precisions, such as "
                     "⟨precision⟩ f32,bf16, or leave them out");
}

std::optional<network::Calibration> calibration_for(const PrecisionRequest& request) {
  if (!holds(request.precisions, Precision::int8)) return std::nullopt;
  if (request.is_here) check_int8(request);
  const std::string& path = request.options->calibration;
  if (!path.empty()) {
    const auto& memory = request.context.memory;
    const auto* held_here = memory != nullptr ? held(memory->calibrations, path) : nullptr;
    network::Calibration given =
        held_here != nullptr ? *held_here : network::read_calibration(path).calibration;
    if (const Verdict verdict = network::fits(given, *request.network); !verdict)
      throw InputError(path, verdict.reason() +
                                 "; make one for this network with `millrace "
                                 "calibrate`");
    return given;
  }
  const InterruptGuard interrupt(request.context.interrupt);
  const auto work = request.context.begin("calibrating " + request.network->name);
  profile::CalibrateOptions options;
  options.progress = [&](double share) {
    work->show(share, "");
    interrupt.check();
  };
  const profile::Samples samples = open_samples(request);
  profile::warn_of_one_scene(samples, request.context);
  return profile::calibrate(execution_of(request), samples, options).table.calibration;
}

PrecisionChoice choose_precisions(const PrecisionRequest& request, const profile::Profile& measured,
                                  const network::Calibration* calibration) {
  const explore::Lowerings lowerings = explore::lowerings_of(measured, request.precisions);
  const profile::Samples samples = open_samples(request);
  const InterruptGuard interrupt(request.context.interrupt);
  const auto work = request.context.begin("measuring the loss");
  const std::size_t measurements = lowerings.problem.lowerings.size() + 8;  // roughly
  std::size_t done = 0;
  const auto after_frame = [&] {
    const double all = static_cast<double>(samples.count * measurements);
    work->show(static_cast<double>(++done) / all, "");
    interrupt.check();
  };
  profile::LossMeter meter(execution_of(request), samples, after_frame);
  set_measure(meter, request);
  PrecisionChoice choice = explore::choose_precisions(
      lowerings.problem, read_share(request.options->max_loss, "⟨max_loss⟩"),
      [&](const std::vector<Precision>& precisions) {
        return meter.measure(variants_of(measured, lowerings.spread(precisions)), calibration);
      });
  choice.precisions = lowerings.spread(std::move(choice.precisions));
  return choice;
}

std::optional<profile::Loss> measured_loss(const PrecisionRequest& request,
                                           const profile::Profile& chosen,
                                           const network::Calibration* calibration) {
  if (!request.options->has_frames(request.precisions)) return std::nullopt;
  std::vector<Variant> variants;
  for (const profile::LayerTimes& layer : chosen.processors.front().layers)
    variants.push_back(layer.variant);
  const InterruptGuard interrupt(request.context.interrupt);
  const auto work = request.context.begin("measuring the loss");
  profile::LossMeter meter(execution_of(request), open_samples(request),
                           [&] { interrupt.check(); });
  set_measure(meter, request);
  return meter.measure(variants, calibration);
}

std::string missed_budget_text(const PrecisionRequest& request,
                               const explore::PrecisionChoice& choice) {
  const board::Precision base =
      *std::min_element(request.precisions.begin(), request.precisions.end());
  const profile::Loss& loss = choice.loss;
  const std::string share = fmt::format("{:.2f} %", 100 * loss.changed_share());
  const std::string lost =
      loss.fall ? fmt::format("the {} falls by {}", loss.measure, share)
                : fmt::format("{} of {} answers ({}) change", loss.changed, loss.answers, share);
  return fmt::format(
      "⟨max_loss⟩ {}: even with all layers in {}, {}; allow {} with ⟨precision⟩, calibrate on more "
      "frames or accept a larger loss",
      request.options->max_loss, board::to_text(base), lost,
      base == board::Precision::int8 ? "bf16 or f32" : "f32");
}

}  // namespace millrace::product
