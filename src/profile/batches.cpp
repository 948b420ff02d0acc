#include "profile/batches.h"

#include <algorithm>
#include <array>

#include "engine/batch.h"
#include "network/batch.h"
#include "profile/subject.h"
#include "profile/trial.h"

namespace millrace::profile {
namespace {

constexpr std::array<std::int64_t, 5> sizes{1, 2, 4, 8, 16};

MeasureOptions brief(const MeasureOptions& options) {
  MeasureOptions result = options;
  result.warmup = 1;
  result.duration /= 5;
  result.least = std::min(options.least, 5);
  return result;
}

std::vector<BatchTime> times_of_layer(const Subject& subject, LayerId layer,
                                      const Variants& variants) {
  const engine::SubnetRequest request = request_for_layer(subject, layer, variants);
  std::vector<BatchTime> times;
  for (const std::int64_t frames : sizes) {
    Trial trial(engine::prepare_batch(subject.engine, request, frames), subject.network,
                subject.options.seed);
    times.push_back({frames, time_of(trial, subject.options).median});
  }
  return times;
}

void measure_processor(const Subject& subject, ProcessorProfile& profile) {
  const board::PinGuard pinned(subject.processor);
  Variants variants;
  for (const LayerTimes& layer : profile.layers) variants.push_back(layer.variant);
  for (std::size_t i = 0; i < profile.layers.size(); ++i)
    if (profile.layers[i].batches.empty() && gains_by_batches(subject.network, LayerId(i)))
      profile.layers[i].batches = times_of_layer(subject, LayerId(i), variants);
}

}  // namespace

bool gains_by_batches(const network::Network& network, LayerId id) {
  const network::Layer& layer = network[id];
  const bool multiplies = std::holds_alternative<network::Gemm>(layer.op) ||
                          std::holds_alternative<network::MatMul>(layer.op);
  return multiplies && network[layer.inputs[1]].constant && network::can_batch(network, id);
}

bool has_batches(const Profile& profile, const network::Network& network) {
  for (const ProcessorProfile& each : profile.processors)
    for (std::size_t i = 0; i < each.layers.size(); ++i)
      if (each.layers[i].batches.empty() && gains_by_batches(network, LayerId(i))) return false;
  return true;
}

void measure_batches(Profile& profile, const network::Network& network, engine::Engine& engine,
                     const MeasureOptions& options) {
  const MeasureOptions quick = brief(options);
  double done = 0;
  for (ProcessorProfile& each : profile.processors) {
    if (options.progress)
      options.progress(each.processor.name + " batches",
                       done++ / static_cast<double>(profile.processors.size()));
    measure_processor({network, engine, each.processor, quick}, each);
  }
}

}  // namespace millrace::profile
