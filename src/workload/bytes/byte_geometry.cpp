// Layers between quantised tensors.
#include <algorithm>

#include "network/operator_kinds.h"
#include "workload/layer_geometry.h"

namespace millrace::workload {
namespace {

bool is_byte(network::DataType type) {
  return type == network::DataType::int8 || type == network::DataType::uint8;
}

std::int32_t integer_of(const network::Array& array, std::size_t at) {
  return array.type == network::DataType::int8 ? std::int32_t{array.values<std::int8_t>()[at]}
                                               : std::int32_t{array.values<std::uint8_t>()[at]};
}

/// Steps that are the same in every frame, and for all channels but for their scales. `scales`:
/// how many there may be.
std::optional<TileSteps> steps_of(const LayerAt& layer, std::size_t input,
                                  std::int64_t scales = 1) {
  const network::Tensor& scale = layer.input(input);
  const network::Tensor& zero = layer.input(input + 1);
  if (!scale.constant || !zero.constant || scale.type != network::DataType::float32 ||
      !is_byte(zero.type))
    return std::nullopt;
  const std::int64_t count = network::element_count(scale.shape);
  if (count != 1 && (count != scales || scale.shape.size() != 1)) return std::nullopt;
  const auto zeros = static_cast<std::size_t>(network::element_count(zero.shape));
  for (std::size_t i = 1; i < zeros; ++i)
    if (integer_of(*zero.constant, i) != integer_of(*zero.constant, 0)) return std::nullopt;
  return TileSteps{zero.type == network::DataType::int8, integer_of(*zero.constant, 0),
                   count == 1 ? scale.constant->values<float>()[0] : 1.0f};
}

/// The factors and the bias of a product between quantised tensors, as those of an ordinary one.
LayerAt as_product(const LayerAt& layer, network::Layer& alone) {
  alone.inputs = {layer.layer.inputs[0], layer.layer.inputs[3]};
  if (layer.has(8)) alone.inputs.push_back(layer.layer.inputs[8]);
  return {layer.network, alone};
}

bool add_scaling(const LayerAt& layer, std::int64_t outputs, LayerGeometry& geometry) {
  const auto input = steps_of(layer, 1), weights = steps_of(layer, 4, outputs),
             output = steps_of(layer, 6);
  if (!input || !weights || !output) return false;
  const bool by_channel = network::element_count(layer.input(4).shape) > 1;
  geometry.scaling = TileScaling{*input, *weights, *output, by_channel};
  if (!by_channel) return true;
  const bool separate = geometry.operation == TileOperation::depthwise;
  const Loop channel = separate ? Loop::group : Loop::out;
  geometry.sources.push_back(channel_operand("scales", layer.layer.inputs[4], channel));
  if (!separate)
    geometry.sources.back().strides[at(Loop::group)] = geometry.totals[at(Loop::out)];
  return true;
}

std::optional<LayerGeometry> byte_product(const LayerAt& layer) {
  const auto* conv = std::get_if<network::QLinearConv>(&layer.layer.op);
  if (!conv && !network::is_one_of<network::QLinearMatMul>(layer.layer.op)) return std::nullopt;
  network::Layer alone = layer.layer;
  const LayerAt product_layer = as_product(layer, alone);
  LayerGeometry geometry;
  if (conv) {
    if (!has_images(layer)) return whole_geometry("its windows have three dimensions");
    if (has_negative_pads(conv->window)) return whole_geometry("its padding is negative");
    geometry = convolution_geometry(product_layer, {conv->window, conv->groups});
  } else {
    if (layer.input(3).shape.size() != 2 || layer.input(0).shape.size() < 2)
      return whole_geometry("its second factor is no matrix");
    geometry = product_geometry(product_layer, false);
  }
  const std::int64_t outputs = conv ? layer.output().shape[1] : layer.input(3).shape[1];
  if (!add_scaling(layer, outputs, geometry))
    return whole_geometry("its scales or zero points differ by frame, row or channel");
  return geometry;
}

}  // namespace

std::optional<LayerGeometry> byte_geometry(const LayerAt& layer) {
  if (std::optional<LayerGeometry> geometry = byte_product(layer)) return geometry;
  const auto* pooled = std::get_if<network::Pool>(&layer.layer.op);
  const bool largest = pooled && pooled->kind == network::PoolKind::max &&
                       layer.layer.outputs.size() == 1 && is_byte(layer.input(0).type);
  if (largest && has_images(layer) && !has_negative_pads(pooled->window)) {
    LayerGeometry geometry = pool_geometry(layer, *pooled);
    geometry.scaling.emplace().input.is_signed =
        layer.input(0).type == network::DataType::int8;
    return geometry;
  }
  if (!network::is_one_of<network::QuantizeLinear, network::DequantizeLinear>(layer.layer.op))
    return std::nullopt;
  const bool has_all = std::ranges::all_of(layer.layer.inputs, &TensorId::valid);
  if (!has_all || network::element_count(layer.input(1).shape) != 1) return std::nullopt;
  return elementwise_geometry(layer);
}

}  // namespace millrace::workload
