#include <algorithm>
#include <array>
#include <cmath>

#include "formats/onnx_writer/interpolated.h"
#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {
namespace {

constexpr std::array<const char*, 3> mode_names{"nearest", "linear", "cubic"};
constexpr std::array<const char*, 7> coordinate_names{
    "half_pixel",           "pytorch_half_pixel", "align_corners",       "asymmetric",
    "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"};
constexpr std::array<const char*, 4> nearest_names{"round_prefer_floor", "round_prefer_ceil",
                                                   "floor", "ceil"};

template <std::size_t N, class Enum>
const char* name_in(const std::array<const char*, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

/// Whether ONNX calculates the same scales from the output's sizes.
bool follows_from_sizes(const Resize& op, const Shape& in, const Shape& out) {
  for (std::size_t i = 0; i < in.size(); ++i)
    if (op.scales[i] != static_cast<double>(out[i]) / static_cast<double>(in[i])) return false;
  return true;
}

/// Whether ONNX calculates the output's sizes from the scales.
bool gives_sizes(const Resize& op, const Shape& in, const Shape& out) {
  for (std::size_t i = 0; i < in.size(); ++i) {
    const float scale = static_cast<float>(op.scales[i]);
    if (std::floor(scale * static_cast<float>(in[i])) != static_cast<float>(out[i])) return false;
  }
  return true;
}

bool are_single(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) {
    return static_cast<double>(static_cast<float>(value)) == value;
  });
}

/// Whether coordinates depend on the output's size before it is rounded down; libraries take the
/// size after it.
bool depends_on_width(Coordinates coordinates) {
  return coordinates == Coordinates::align_corners ||
         coordinates == Coordinates::tf_crop_and_resize ||
         coordinates == Coordinates::half_pixel_symmetric;
}

std::string floats(LayerNodes& layer, const std::vector<double>& values) {
  const std::vector<float> single(values.begin(), values.end());
  return layer.constant(
      make_array<float>(DataType::float32, {std::ssize(single)}, std::span(single)));
}

}  // namespace

void write(const Resize& op, LayerNodes& layer) {
  const Shape &in = layer.input_shape(), &out = layer.output_shape();
  const bool scales = gives_sizes(op, in, out);
  const bool sizes = follows_from_sizes(op, in, out);
  if ((!scales && !sizes) || (!sizes && depends_on_width(op.coordinates)))
    return write_interpolated(op, layer);
  Names inputs{layer.input(), "", "", ""};
  if (!op.roi.empty()) inputs[1] = floats(layer, op.roi);
  if (scales && (are_single(op.scales) || !sizes))
    inputs[2] = floats(layer, op.scales);
  else
    inputs[3] = integers(layer, out);
  const NodeToWrite node = layer.node("Resize", inputs, layer.outputs());
  if (op.coordinates == Coordinates::half_pixel_symmetric) layer.need_opset(19);
  node.set("mode", name_in(mode_names, op.mode));
  node.set("coordinate_transformation_mode", name_in(coordinate_names, op.coordinates));
  if (op.mode == ResizeMode::nearest) node.set("nearest_mode", name_in(nearest_names, op.nearest));
  if (op.mode == ResizeMode::cubic) node.set("cubic_coeff_a", static_cast<float>(op.cubic_a));
  if (op.exclude_outside) node.set("exclude_outside", std::int64_t{1});
  if (op.antialias) {
    layer.need_opset(18);
    node.set("antialias", std::int64_t{1});
  }
  if (op.extrapolation != 0) node.set("extrapolation_value", static_cast<float>(op.extrapolation));
}

}  // namespace millrace::formats::onnx_writer
