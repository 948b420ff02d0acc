#include "profile/pass.h"

#include <algorithm>

#include "profile/select.h"

namespace millrace::profile {
namespace {

std::unique_ptr<engine::Subnet> prepare(const Subject& subject, const Variants& variants) {
  engine::SubnetRequest request = engine::whole_network(subject.network, subject.processor);
  request.variants = variants;
  request.calibration = subject.options.calibration;
  return subject.engine.prepare(request);
}

}  // namespace

engine::SubnetRequest request_for(const Subject& subject, const std::vector<LayerId>& layers,
                                  const Variants& variants) {
  engine::SubnetRequest request;
  request.network = &subject.network;
  request.processor = subject.processor;
  request.layers = layers;
  request.variants = variants;
  request.calibration = subject.options.calibration;
  const engine::Border border = engine::border_of(subject.network, request.layers);
  request.outputs = border.outputs;
  request.plain.assign(border.outputs.size(), false);
  for (const TensorId input : border.inputs)
    request.inputs.push_back({input, engine::plain_layout(subject.network[input])});
  return request;
}

Variants variants_of(const std::vector<LayerTimes>& layers) {
  Variants result;
  for (const LayerTimes& layer : layers) result.push_back(layer.variant);
  return result;
}

Pass at_pace(Pass pass, double factor) {
  const auto scale = [&](Time& time) { time = time_from_seconds(seconds(time) * factor); };
  for (LayerTimes& layer : pass.layers) scale(layer.together.median);
  scale(pass.whole.median);
  return pass;
}

double ratio(Time a, Time b) { return seconds(a) / seconds(std::max(b, Time(1))); }

PassTrial::PassTrial(const Subject& subject, Variants variants)
    : PassTrial(subject, variants, prepare(subject, variants)) {}

PassTrial::PassTrial(const Subject& subject, Variants variants,
                     std::unique_ptr<engine::Subnet> part)
    : variants_(std::move(variants)),
      trial_(std::move(part), subject.network, subject.options.seed),
      layers_(variants_.size()),
      samples_(variants_.size()) {
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].variant = variants_[i];
}

Time PassTrial::once(bool counted) {
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

void PassTrial::run(const MeasureOptions& options) {
  repeat(options, [&](bool counted) { return once(counted); });
}

void PassTrial::run_interleaved(PassTrial& a, PassTrial& b, const MeasureOptions& options) {
  a.start_again();
  b.start_again();
  repeat(options, [&](bool counted) { return std::max(a.once(counted), b.once(counted)); });
}

void PassTrial::start_again() {
  totals_.clear();
  for (std::vector<Time>& samples : samples_) samples.clear();
}

Pass PassTrial::result() const {
  Pass pass{layers_, statistics_of(totals_)};
  for (std::size_t i = 0; i < samples_.size(); ++i)
    pass.layers[i].together = statistics_of(samples_[i]);
  return pass;
}

Units::Units(std::span<const Pass> passes) {
  std::vector<const std::vector<LayerTimes>*> layers;
  for (const Pass& pass : passes) layers.push_back(&pass.layers);
  units_ = units_of(layers);
}

Time Units::time(const Pass& pass, LayerId layer) const {
  Time sum{};
  for (std::size_t i = 0; i < units_.size(); ++i)
    if (units_[i] == units_[layer.index]) sum += pass.layers[i].together.median;
  return sum;
}

}  // namespace millrace::profile
