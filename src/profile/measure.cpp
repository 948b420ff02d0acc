#include "profile/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "board/limits/usable_memory.h"
#include "profile/choose_variants.h"
#include "profile/contention.h"
#include "profile/devices/subnet_times.h"
#include "profile/devices/transfer_times.h"
#include "profile/trial.h"

namespace millrace::profile {
namespace {

using board::Precision;
using engine::Engine;
using engine::SubnetRequest;
using network::Network;

std::vector<LayerId> all_layers(const Network& network) {
  std::vector<LayerId> layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) layers.emplace_back(i);
  return layers;
}

/// All layers that cannot run are named at once, by operator.
void check_supported(const Network& network, const board::Processor& processor,
                     const Engine& engine) {
  std::map<std::string, std::vector<LayerId>> refused;
  std::size_t layers = 0;
  std::string reason;
  for (const LayerId layer : all_layers(network)) {
    const Verdict verdict = engine.supports(network, layer, processor);
    if (verdict) continue;
    if (layers++ == 0) reason = verdict.reason();
    refused[std::string(network::name_of(network[layer].op))].push_back(layer);
  }
  if (layers == 0) return;
  std::string text;
  for (const auto& [op, ids] : refused)
    text += fmt::format("{}{} ({} of them, such as '{}')", text.empty() ? "" : ", ", op, ids.size(),
                        network[ids.front()].name);
  throw InputError(network.name,
                   fmt::format("{} layer{} cannot run on {} with {}: {}; the first one: {}; "
                               "'millrace inspect' says what other engines run",
                               layers, layers == 1 ? "" : "s", processor.name, engine.name(), text,
                               reason));
}

void check_calibration(const MeasurementTarget& target, Precision precision) {
  if (precision != Precision::int8) return;
  const auto* calibration = target.options.calibration;
  if (calibration == nullptr)
    throw InputError("⟨precision⟩ int8",
                     "needs the ranges of the tensors; `millrace plan MODEL ⟨precision⟩ f32,int8 "
                     "⟨calibration⟩ TABLE` measures with those of `millrace calibrate`");
  if (calibration->network != network::hash_of(target.network))
    throw InputError("the calibration", "was made for another network than " + target.network.name +
                                            "; calibrate this one");
}

/// Profile of a processor that has none of the precision: others run the layers in it.
ProcessorProfile refused(const MeasurementTarget& target, const std::string& reason) {
  ProcessorProfile profile;
  profile.layers.resize(target.network.layers.size());
  for (LayerTimes& layer : profile.layers) layer.refusal = reason;
  return profile;
}

/// What the engine offers in a precision, by layer; layers that it offers nothing for follow the
/// precision of what they read.
Ways ways_in(const MeasurementTarget& target, Precision precision) {
  Ways result;
  for (const LayerId layer : all_layers(target.network)) {
    auto& ways = result.emplace_back();
    for (const board::Variant& way :
         target.engine.variants(target.network, layer, target.processor))
      if (way.precision == precision) ways.push_back(way);
  }
  check_calibration(target, precision);
  return result;
}

/// By processor: why it has nothing in the precision; empty if it has. InputError if none has.
std::vector<std::string> refusals_of(std::span<const MeasurementTarget> targets,
                                     Precision precision) {
  std::vector<std::string> reasons;
  for (const MeasurementTarget& target : targets)
    reasons.push_back(
        offers(target.network, target.engine, target.processor, precision).reason());
  if (std::ranges::none_of(reasons, &std::string::empty))
    throw InputError("⟨precision⟩ " + board::to_text(precision), reasons.front());
  return reasons;
}

ProcessorProfile named(ProcessorProfile profile, const MeasurementTarget& target,
                       Precision precision) {
  profile.processor = target.processor;
  profile.engine = target.engine.name();
  profile.engine_version = target.engine.version();
  profile.precision = precision;
  return profile;
}

Measured measure_processor(const MeasurementTarget& target, Precision precision,
                           const ProcessorProfile* known) {
  const board::PinGuard pinned(target.processor);
  Measured result = measure_variants(target, precision, ways_in(target, precision), known);
  result.profile = named(std::move(result.profile), target, precision);
  if (const auto transfers = measure_transfers(target.engine, target.processor))
    result.profile.borders = with_transfers({}, *transfers);
  return result;
}

bool is_measured_by_subnets(const MeasurementTarget& target) {
  const std::optional<engine::Traits> traits = target.engine.traits(target.processor);
  return target.most_weights || (traits && traits->granularity == board::Granularity::subnet);
}

/// Of a subnet on this processor. Nothing: its memory holds the whole network, as often as variants
/// of it are compared.
std::optional<Bytes> most_weights_on(const board::Board& board, const board::Processor& processor,
                                     const Network& network) {
  constexpr std::int64_t networks_at_once = 2, share_of_a_row = 8;
  const board::Memory* const memory = board::main_memory_of(board, processor);
  if (memory == nullptr || network::weights_of(network) * networks_at_once <= memory->size)
    return std::nullopt;
  return Bytes{memory->size.count / share_of_a_row};
}

/// The first of these on as many cores of the processor's device; null if there is none.
const ProcessorProfile* alike(const board::Board& board, const board::Processor& processor,
                              std::span<const Measured> measured) {
  const board::Device* device = board::device_of(board, processor);
  for (const auto& [profile, trial] : measured)
    if (board::device_of(board, profile.processor) == device &&
        profile.processor.cores.size() == processor.cores.size())
      return &profile;
  return nullptr;
}

}  // namespace

Verdict offers(const network::Network& network, engine::Engine& engine,
               const board::Processor& processor, Precision precision) {
  if (precision == Precision::f32) return Verdict::yes();
  std::set<Precision> found{Precision::f32};
  for (const LayerId layer : all_layers(network))
    for (const board::Variant& way : engine.variants(network, layer, processor))
      found.insert(way.precision);
  if (found.contains(precision)) return Verdict::yes();
  std::vector<std::string> names;
  for (const Precision each : found) names.push_back(board::to_text(each));
  return Verdict::no(fmt::format(
      "{} runs no layer of {} in {} with {}; it has {}", processor.name, network.name,
      board::to_text(precision), engine.name(), fmt::join(names, ", ")));
}

std::optional<double> max_error_of(const MeasureOptions& options, Precision precision) {
  constexpr double of_f32 = 1e-3;
  if (options.max_error || precision != Precision::f32) return options.max_error;
  return of_f32;
}

Profile measure(const Network& network, const board::Board& board, Engine& engine,
                const MeasureOptions& options) {
  Profile profile;
  profile.network = network::hash_of(network);
  profile.board = board::hash_of(board);
  profile.network_name = network.name;
  for (const network::Layer& layer : network.layers) profile.layer_names.push_back(layer.name);
  for (const Precision precision : options.precisions) {
    std::vector<Measured> measured;
    std::vector<ProcessorProfile> others;
    std::vector<MeasurementTarget> targets;
    for (const board::Processor& processor : board.processors)
      targets.push_back(
          {network, engine, processor, options, {}, most_weights_on(board, processor, network)});
    const std::vector<std::string> refusals = refusals_of(targets, precision);
    for (std::size_t p = 0; p < targets.size(); ++p) {
      MeasurementTarget& target = targets[p];
      const board::Processor& processor = target.processor;
      if (options.progress)
        options.progress(
            fmt::format("{} {}", processor.name, board::to_text(precision)),
            static_cast<double>(profile.processors.size() + measured.size() + others.size()) /
                static_cast<double>(board.processors.size() * options.precisions.size()));
      if (!refusals[p].empty()) {
        others.push_back(named(refused(target, refusals[p]), target, precision));
        continue;
      }
      if (is_measured_by_subnets(target)) {
        others.push_back(named(measure_by_subnets(target, precision), target, precision));
        continue;
      }
      check_supported(network, processor, engine);
      // Helper threads of an engine that uses several cores would be in each other's way.
      if (processor.cores.size() == 1) target.cores = board::cores_of_this_thread();
      measured.push_back(measure_processor(target, precision, alike(board, processor, measured)));
    }
    measure_contention(measured, options);
    for (Measured& each : measured) profile.processors.push_back(std::move(each.profile));
    std::ranges::move(others, std::back_inserter(profile.processors));
  }
  profile.tokens = measure_tokens(board);
  return profile;
}

Statistics measure_subnet(const SubnetRequest& request, Engine& engine,
                          const MeasureOptions& options) {
  const board::PinGuard pinned(request.processor);
  Trial trial(engine.prepare(request), *request.network, options.seed);
  return time_of(trial, options);
}

}  // namespace millrace::profile
