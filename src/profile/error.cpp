#include "profile/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json_text.h"
#include "base/random.h"
#include "network/operator_kinds.h"
#include "network/random_values.h"
#include "profile/reference.h"

namespace millrace::profile {
namespace {

constexpr std::size_t most_places = 512;

std::vector<std::size_t> draw_places(std::size_t outputs, Random& random) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < std::min(outputs, most_places); ++i)
    places.push_back(outputs <= most_places ? i : random.below(outputs));
  return places;
}

/// From [-1, 1) into the range that the tensor has: beyond it int8 would only be cut off.
void stretch(network::Buffer& buffer, const network::Tensor& tensor,
             const network::Calibration& calibration) {
  const auto range = calibration.ranges.find(tensor.name);
  if (range == calibration.ranges.end() || tensor.type != network::DataType::float32) return;
  const float low = range->second.low, high = range->second.high;
  auto* values = reinterpret_cast<float*>(buffer.data());
  std::for_each_n(values, static_cast<std::size_t>(tensor.size().count) / sizeof(float),
                  [&](float& value) { value = low + (high - low) * (value + 1) / 2; });
}

/// In f32 its variant may be that of a whole attention, which a layer alone says nothing about.
bool is_product_of_results(const network::Network& network, const network::Layer& layer) {
  return network::is_product(layer.op) && !network[layer.inputs[0]].constant &&
         !network[layer.inputs[1]].constant;
}

}  // namespace

ErrorTest::ErrorTest(const MeasurementTarget& target, LayerId id) : target_(target), layer_(id) {
  const network::Network& network = target.network;
  const network::Layer& layer = network[id];
  Random random(target.options.seed);
  const auto border = engine::border_of(network, {{id}}).inputs;
  for (const TensorId input : border) {
    inputs_.emplace_back(network[input].size());
    network::fill_random(inputs_.back().bytes(), network[input].type, random);
    if (target.options.calibration != nullptr)
      stretch(inputs_.back(), network[input], *target.options.calibration);
  }
  std::vector<network::ConstView> views;
  for (const TensorId input : layer.inputs) {
    if (!input.valid()) {
      views.emplace_back();
      continue;
    }
    const network::Tensor& tensor = network[input];
    const auto at = std::find(border.begin(), border.end(), input) - border.begin();
    views.push_back({tensor.type, tensor.shape,
                     tensor.constant ? tensor.constant->bytes().data()
                                     : inputs_[static_cast<std::size_t>(at)].data()});
  }
  const network::Tensor& output = network[layer.outputs[0]];
  if (output.type != network::DataType::float32) return;
  places_ = draw_places(static_cast<std::size_t>(output.size().count) / sizeof(float), random);
  reference_ = reference_at(layer, views, output.shape, places_);
}

std::optional<double> ErrorTest::of(const board::Variant& variant) const {
  if (reference_.empty()) return std::nullopt;
  if (variant.precision == board::Precision::f32 &&
      is_product_of_results(target_.network, target_.network[layer_]))
    return std::nullopt;
  Variants variants(target_.network.layers.size());
  variants[layer_.index] = variant;
  engine::SubnetRequest request = request_for(target_, {layer_}, variants);
  request.plain.assign(request.outputs.size(), true);
  const auto subnet = target_.engine.prepare(request);
  std::vector<const std::byte*> in;
  for (const network::Buffer& buffer : inputs_) in.push_back(buffer.data());
  std::vector<network::Buffer> results;
  std::vector<std::byte*> out;
  for (const engine::Port& port : subnet->outputs()) {
    results.emplace_back(port.layout.size);
    out.push_back(results.back().data());
  }
  subnet->run(in, out);
  const auto* values = reinterpret_cast<const float*>(out[0]);
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[places_[i]]) - reference_[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::max();
    error = std::max(error, difference);
    largest = std::max(largest, std::abs(reference_[i]));
  }
  return error == 0 ? 0 : rounded(error / std::max(largest, 1e-30));
}

}  // namespace millrace::profile
