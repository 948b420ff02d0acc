#include "profile/alone.h"

#include <map>

#include "profile/trial.h"

namespace millrace::profile {

void measure_alone(const MeasurementTarget& target, std::vector<LayerTimes>& layers) {
  std::vector<bool> in_group(layers.size());
  Variants variants;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    variants.push_back(layers[i].variant);
    if (const auto first = layers[i].fused_into) in_group[i] = in_group[first->index] = true;
  }
  std::map<TensorId, engine::Layout> layouts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    engine::SubnetRequest request = request_for(target, {LayerId(i)}, variants);
    for (engine::Port& input : request.inputs)
      if (const auto known = layouts.find(input.tensor); known != layouts.end())
        input.layout = known->second;
    Trial trial(target.engine.prepare(request), target.network, target.options.seed);
    for (const engine::Port& port : trial.outputs()) layouts[port.tensor] = port.layout;
    layers[i].alone = in_group[i] ? time_of(trial, target.options) : layers[i].together;
  }
}

}  // namespace millrace::profile
