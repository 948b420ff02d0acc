// Products of quantised tensors.
#include "formats/onnx_writer/operators.h"
#include "formats/onnx_writer/windows.h"

namespace millrace::formats::onnx_writer {
namespace {

/// Where values, their scale and their zero point are among the inputs.
struct QuantizedFactor {
  std::size_t values, scale, zero;
};
constexpr QuantizedFactor first{0, 1, 2}, second{3, 4, 5};
constexpr std::size_t scale_of_result = 6, zero_of_result = 7, bias = 8;

bool is_one_value(const Shape& shape) { return shape.size() <= 1 && element_count(shape) == 1; }

/// Whether DequantizeLinear can spread scale and zero point over the values, along one axis at
/// most.
bool can_be_real(LayerNodes& layer, const QuantizedFactor& factor, std::size_t most_dimensions) {
  const Shape& scale = layer.input_shape(factor.scale);
  const bool same = layer.has_input(factor.zero) && layer.input_shape(factor.zero) == scale;
  return same && (is_one_value(scale) || scale.size() <= most_dimensions);
}

/// Several scales belong to the filters of a convolution.
std::string real(LayerNodes& layer, const QuantizedFactor& factor) {
  const NodeToWrite node = layer.inner(
      "DequantizeLinear",
      {layer.input(factor.values), layer.input(factor.scale), layer.input(factor.zero)});
  if (!is_one_value(layer.input_shape(factor.scale))) node.set("axis", std::int64_t{0});
  return node.output();
}

/// The bias counts in steps of both scales' product.
std::string real_bias(LayerNodes& layer) {
  const std::string steps =
      layer.inner("Mul", {layer.input(first.scale), layer.input(second.scale)}).output();
  const std::string numbers = cast(layer, layer.input(bias), DataType::float32);
  return layer.inner("Mul", {numbers, steps}).output();
}

void write_rounded(const std::string& sums, LayerNodes& layer) {
  layer.node("QuantizeLinear", {sums, layer.input(scale_of_result), layer.input(zero_of_result)},
             layer.outputs());
}

}  // namespace

void write(const QLinearConv& op, LayerNodes& layer) {
  const bool in_pairs = layer.graph().form().quantized_in_pairs && can_be_real(layer, first, 0) &&
                        can_be_real(layer, second, 1);
  if (!in_pairs) {
    set_window(layer.node("QLinearConv"), op.window).set("group", op.groups);
    return;
  }
  Names inputs{real(layer, first), real(layer, second)};
  if (layer.has_input(bias)) inputs.push_back(real_bias(layer));
  const NodeToWrite conv = set_window(layer.inner("Conv", inputs), op.window);
  write_rounded(conv.set("group", op.groups).output(), layer);
}

void write(const QLinearMatMul&, LayerNodes& layer) { layer.node("QLinearMatMul"); }

}  // namespace millrace::formats::onnx_writer
