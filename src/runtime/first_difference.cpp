#include "runtime/first_difference.h"

#include <algorithm>

#include "network/evaluate/evaluate.h"

namespace millrace::runtime {
namespace {

using network::Array;
using Values = std::map<TensorId, Array>;

/// Every tensor of the network, as the plain loops compute it.
Values right_values(const network::Network& network, std::span<const Array> inputs) {
  network::Network all = network;
  all.outputs.clear();
  for (const network::Layer& layer : network.layers)
    for (const TensorId output : layer.outputs)
      if (output.valid()) all.outputs.push_back(output);
  const std::vector<Array> results = network::evaluate(all, inputs);
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[network.inputs[i]] = inputs[i];
  for (std::size_t i = 0; i < results.size(); ++i) values[all.outputs[i]] = results[i];
  return values;
}

struct Place {
  const plan::Stage* stage;
  std::size_t replica;
  std::span<const LayerId> layers;
};

void add_phases(const plan::Stage& stage, std::size_t replica, std::vector<Place>& places) {
  for (const plan::Phase& phase : stage.phases)
    if (!phase.layers.empty()) places.push_back({&stage, replica, phase.layers});
}

/// Of each replica, by their first layers.
std::vector<Place> phases_of(const plan::Plan& plan) {
  std::vector<Place> places;
  for (const plan::Stage& stage : plan.stages)
    for (std::size_t r = 0; r < stage.processors.size(); ++r) add_phases(stage, r, places);
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.layers.front() < b.layers.front();
  });
  return places;
}

class Bisection {
 public:
  Bisection(const Suspect& suspect, const Values& values) : suspect_(suspect), values_(values) {}

  /// Of what these layers as one subnet make of right inputs.
  double error_of(const Place& place) const {
    const engine::SubnetRequest request = request_for(place);
    const auto subnet = suspect_.engines.at(place.stage->engine)->prepare(request);
    std::vector<const std::byte*> in;
    for (const engine::Port& port : subnet->inputs())
      in.push_back(values_.at(port.tensor).memory->data());
    std::vector<network::Buffer> made;
    std::vector<std::byte*> out;
    for (const engine::Port& port : subnet->outputs())
      out.push_back(made.emplace_back(port.layout.size).data());
    subnet->run(in, out);
    Frames right(1), found(1);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const Array& reference = values_.at(subnet->outputs()[i].tensor);
      right[0].push_back(reference);
      found[0].push_back(network::make_array(reference.type, reference.shape, std::move(made[i])));
    }
    return compare(right, found).error;
  }

  /// Precondition: all layers of the place together are off by more than `tolerance`.
  FirstDifference first_in(const Place& place, double tolerance) const {
    std::size_t right = 0, wrong = place.layers.size();
    while (wrong - right > 1) {
      const std::size_t middle = (right + wrong) / 2;
      const bool differs =
          error_of({place.stage, place.replica, place.layers.first(middle)}) > tolerance;
      (differs ? wrong : right) = middle;
    }
    const Place found{place.stage, place.replica, place.layers.first(wrong)};
    return {suspect_.network[found.layers.back()].name, plan::name_of(*place.stage, place.replica),
            error_of(found)};
  }

 private:
  engine::SubnetRequest request_for(const Place& place) const {
    const network::Network& network = suspect_.network;
    const engine::Border border = engine::border_of(network, place.layers);
    engine::SubnetRequest request;
    request.network = &network;
    request.processor = place.stage->processors[place.replica];
    request.layers.assign(place.layers.begin(), place.layers.end());
    for (const TensorId input : border.inputs)
      request.inputs.push_back({input, engine::plain_layout(network[input])});
    request.outputs = border.outputs;
    request.plain.assign(border.outputs.size(), true);
    request.variants = plan::one_frame_variants(suspect_.plan);
    if (suspect_.plan.calibration) request.calibration = &*suspect_.plan.calibration;
    return request;
  }

  const Suspect& suspect_;
  const Values& values_;
};

}  // namespace

std::optional<FirstDifference> first_difference(const Suspect& suspect,
                                                std::span<const Array> inputs, double tolerance) {
  const Values values = right_values(suspect.network, inputs);
  const Bisection bisection(suspect, values);
  for (const Place& place : phases_of(suspect.plan))
    if (bisection.error_of(place) > tolerance) return bisection.first_in(place, tolerance);
  return std::nullopt;
}

}  // namespace millrace::runtime
