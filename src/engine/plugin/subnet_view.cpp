#include "engine/plugin/subnet_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "formats/onnx/types.h"

namespace millrace::engine::plugin {
namespace {

using formats::OnnxNode;
using formats::OnnxValue;

std::vector<std::int32_t> numbers_of(const std::vector<std::size_t>& places) {
  return {places.begin(), places.end()};
}

std::int32_t number_of(network::DataType type) { return formats::onnx::number_of(type); }

std::string shape_text(const MillraceTensor& tensor) {
  if (tensor.rank < 0 || tensor.rank > 64) return fmt::format("rank {}", tensor.rank);
  return network::to_text(network::Shape(tensor.shape, tensor.shape + tensor.rank));
}

}  // namespace

std::string fault_of_output(const MillraceTensor& found, const network::Tensor& expected) {
  const network::Shape& shape = expected.shape;
  const auto bytes = static_cast<std::size_t>(expected.size().count);
  if (found.type == number_of(expected.type) && found.bytes == bytes && found.rank >= 0 &&
      static_cast<std::size_t>(found.rank) == shape.size() &&
      std::equal(shape.begin(), shape.end(), found.shape))
    return {};
  return fmt::format("it would write '{}' as {} of ONNX's type {} in {} bytes, expected {} of type "
                     "{} in {} bytes",
                     expected.name, shape_text(found), found.type, found.bytes,
                     network::to_text(shape), number_of(expected.type), bytes);
}

SubnetView::SubnetView(const Shown& shown)
    : model_(formats::write_onnx(*shown.network, shown.part,
                                 {.weights_inside = false,
                                  .outputs_unknown = shown.outputs_unknown,
                                  .numbered = true})),
      nodes_(formats::nodes_of(*shown.network, model_)) {
  if (shown.onnx == millrace_all_onnx)
    onnx_ = write_onnx(*shown.network, shown.part,
                       {.outputs_unknown = shown.outputs_unknown, .numbered = true})
                .bytes;
  if (shown.onnx == millrace_light_onnx) onnx_ = model_.bytes;
  for (const OnnxValue& value : nodes_.values) add_tensor(value, shown.calibration);
  if (shown.onnx != millrace_all_onnx) mark_external();
  for (const OnnxNode& node : nodes_.nodes) add_node(node);
  layer_names_.reserve(shown.part.layers.size());
  for (std::size_t i = 0; i < shown.part.layers.size(); ++i) {
    layer_names_.push_back((*shown.network)[shown.part.layers[i]].name);
    const auto precision = static_cast<std::int32_t>(shown.precisions[i]);
    layers_.push_back({layer_names_.back().c_str(), precision});
  }
  inputs_ = numbers_of(nodes_.inputs);
  outputs_ = numbers_of(nodes_.outputs);
  subnet_ = {.size = sizeof(MillraceSubnet),
             .onnx = onnx_.empty() ? nullptr : onnx_.data(),
             .tensors = tensors_.data(),
             .nodes = c_nodes_.data(),
             .layers = layers_.data(),
             .inputs = inputs_.data(),
             .outputs = outputs_.data(),
             .onnx_bytes = onnx_.size(),
             .tensor_count = tensors_.size(),
             .node_count = c_nodes_.size(),
             .layer_count = layers_.size(),
             .input_count = inputs_.size(),
             .output_count = outputs_.size()};
}

void SubnetView::add_tensor(const OnnxValue& value, const network::Calibration* calibration) {
  MillraceTensor& tensor = tensors_.emplace_back();
  tensor.name = value.name.c_str();
  tensor.type = value.type ? number_of(*value.type) : 0;
  tensor.rank = value.shape ? static_cast<std::int32_t>(value.shape->size()) : -1;
  if (value.shape) tensor.shape = value.shape->data();
  if (value.constant) tensor.data = value.constant->memory->data();
  if (value.shape && value.type)
    tensor.bytes = static_cast<std::size_t>(
        (network::size_of(*value.type) * network::element_count(*value.shape, value.name)).count);
  if (calibration == nullptr) return;
  if (const auto range = calibration->ranges.find(value.name); range != calibration->ranges.end()) {
    tensor.low = range->second.low;
    tensor.high = range->second.high;
  }
}

void SubnetView::mark_external() {
  std::set<std::string_view> outside;
  for (const formats::OnnxModel::Weight& weight : model_.weights) outside.insert(weight.name);
  for (MillraceTensor& tensor : tensors_)
    tensor.is_external = outside.contains(tensor.name) ? 1 : 0;
}

void SubnetView::add_node(const OnnxNode& node) {
  std::vector<MillraceAttribute>& attributes = attributes_.emplace_back();
  for (const formats::OnnxAttribute& each : node.attributes)
    attributes.push_back({each.name.c_str(), each.integers.data(), each.reals.data(),
                          each.integers.size(), each.reals.size(),
                          each.text ? each.text->c_str() : nullptr});
  MillraceNode& result = c_nodes_.emplace_back();
  result.op = node.op.c_str();
  result.name = node.name.c_str();
  result.layer = node.layer;
  result.input_count = add_places(node.inputs);
  result.inputs = places_.back().data();
  result.output_count = add_places(node.outputs);
  result.outputs = places_.back().data();
  result.attributes = attributes.data();
  result.attribute_count = attributes.size();
}

std::size_t SubnetView::add_places(const std::vector<std::optional<std::size_t>>& places) {
  std::vector<std::int32_t>& result = places_.emplace_back();
  for (const auto& place : places)
    result.push_back(place ? static_cast<std::int32_t>(*place) : -1);
  return result.size();
}

std::string SubnetView::content() const {
  Hasher hasher;
  hasher.add(model_.bytes);
  for (const OnnxValue& value : nodes_.values)
    if (value.constant) hasher.add(value.constant->digest());
  for (const MillraceTensor& tensor : tensors_)
    for (const float bound : {tensor.low, tensor.high})
      hasher.add(std::as_bytes(std::span(&bound, 1)));
  for (const MillraceLayer& layer : layers_) hasher.add(std::int64_t{layer.precision});
  return hasher.digits();
}

std::size_t SubnetView::layer_of(std::size_t node) const {
  return node < c_nodes_.size() ? c_nodes_[node].layer : 0;
}

}  // namespace millrace::engine::plugin
