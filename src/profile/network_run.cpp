#include "profile/network_run.h"

#include <algorithm>
#include <map>
#include <string>

#include "profile/select.h"

namespace millrace::profile {
namespace {

std::unique_ptr<engine::Subnet> prepare(const MeasurementTarget& target, const Variants& variants) {
  engine::SubnetRequest request = engine::whole_network(target.network, target.processor);
  request.variants = variants;
  request.calibration = target.options.calibration;
  return target.engine.prepare(request);
}

}  // namespace

engine::SubnetRequest request_for(const MeasurementTarget& target,
                                  const std::vector<LayerId>& layers, const Variants& variants) {
  engine::SubnetRequest request;
  request.network = &target.network;
  request.processor = target.processor;
  request.layers = layers;
  request.variants = variants;
  request.calibration = target.options.calibration;
  const engine::Border border = engine::border_of(target.network, request.layers);
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), false);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, engine::plain_layout(target.network[input])});
  return request;
}

Variants variants_of(const std::vector<LayerTimes>& layers) {
  Variants result;
  for (const LayerTimes& layer : layers) result.push_back(layer.variant);
  return result;
}

NetworkRun at_pace(NetworkRun run, double factor) {
  const auto scale = [&](Time& time) { time = time_from_seconds(seconds(time) * factor); };
  for (LayerTimes& layer : run.layers) scale(layer.together.median);
  scale(run.whole.median);
  return run;
}

double ratio(Time a, Time b) { return seconds(a) / seconds(std::max(b, Time(1))); }

NetworkTrial::NetworkTrial(const MeasurementTarget& target, Variants variants)
    : NetworkTrial(target, variants, prepare(target, variants)) {}

NetworkTrial::NetworkTrial(const MeasurementTarget& target, Variants variants,
                           std::unique_ptr<engine::Subnet> part)
    : variants_(std::move(variants)),
      trial_(std::move(part), target.network, target.options.seed),
      layers_(variants_.size()),
      samples_(variants_.size()) {
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].variant = variants_[i];
}

Time NetworkTrial::once(bool counted) {
  Time total{};
  for (const engine::GroupTime& group : trial_.run_timed()) {
    total += group.time;
    if (!counted) continue;
    samples_[group.layers[0].index].push_back(group.time);
    layers_[group.layers[0].index].kernel = group.kernel;
    for (std::size_t i = 1; i < group.layers.size(); ++i)
      layers_[group.layers[i].index].fused_into = group.layers[0];
  }
  if (counted) totals_.push_back(total);
  return total;
}

void NetworkTrial::run(const MeasureOptions& options) {
  repeat(options, [&](bool counted) { return once(counted); });
}

void NetworkTrial::run_interleaved(NetworkTrial& a, NetworkTrial& b,
                                   const MeasureOptions& options) {
  a.start_again();
  b.start_again();
  repeat(options, [&](bool counted) { return std::max(a.once(counted), b.once(counted)); });
}

void NetworkTrial::start_again() {
  totals_.clear();
  for (std::vector<Time>& samples : samples_) samples.clear();
}

NetworkRun NetworkTrial::result() const {
  NetworkRun run{layers_, statistics_of(totals_)};
  for (std::size_t i = 0; i < samples_.size(); ++i)
    run.layers[i].together = statistics_of(samples_[i]);
  return run;
}

FusionGroups::FusionGroups(std::span<const NetworkRun> runs) {
  std::vector<const std::vector<LayerTimes>*> layers;
  for (const NetworkRun& run : runs) layers.push_back(&run.layers);
  groups_ = fusion_groups_of(layers);
}

Time FusionGroups::time(const NetworkRun& run, LayerId layer) const {
  Time sum{};
  for (std::size_t i = 0; i < groups_.size(); ++i)
    if (groups_[i] == groups_[layer.index]) sum += run.layers[i].together.median;
  return sum;
}

std::vector<Variants> trials_of(std::span<const Variants> ways, const Variants& own) {
  std::map<std::string, Variants> by_algorithm;
  for (std::size_t i = 0; i < own.size(); ++i)
    for (const Variant& way : ways[i])
      if (!way.algorithm.empty())
        by_algorithm.try_emplace(way.algorithm, own).first->second[i] = way;
  std::vector<Variants> result;
  for (const auto& entry : by_algorithm) {
    const Variants& variants = entry.second;
    const auto fits = std::find_if(result.begin(), result.end(), [&](const Variants& other) {
      for (std::size_t i = 0; i < own.size(); ++i)
        if (variants[i] != own[i] && other[i] != own[i]) return false;
      return true;
    });
    if (fits == result.end()) {
      result.push_back(variants);
      continue;
    }
    for (std::size_t i = 0; i < own.size(); ++i)
      if (variants[i] != own[i]) (*fits)[i] = variants[i];
  }
  return result;
}

}  // namespace millrace::profile
