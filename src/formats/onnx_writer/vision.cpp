// GridSample, NonMaxSuppression and RoiAlign.
#include <array>

#include "formats/onnx_writer/free_rows.h"
#include "formats/onnx_writer/operators.h"

namespace millrace::formats::onnx_writer {

void write(const GridSample& op, LayerNodes& layer) {
  constexpr std::array<const char*, 3> since_16{"nearest", "bilinear", "bicubic"};
  constexpr std::array<const char*, 3> since_20{"nearest", "linear", "cubic"};
  constexpr std::array<const char*, 3> paddings{"zeros", "border", "reflection"};
  layer.need_opset(16);
  const auto& modes = layer.graph().form().opset < 20 ? since_16 : since_20;
  layer.node("GridSample")
      .set("mode", modes[static_cast<std::size_t>(op.mode)])
      .set("padding_mode", paddings[static_cast<std::size_t>(op.padding)])
      .set("align_corners", std::int64_t{op.align_corners});
}

void write(const NonMaxSuppression& op, LayerNodes& layer) {
  const Names inputs{layer.input(0), layer.input(1), integers(layer, {op.most_per_class}),
                     number(layer, double{op.overlap}, DataType::float32),
                     op.has_score ? number(layer, double{op.score}, DataType::float32) : ""};
  const NodeToWrite node = layer.inner("NonMaxSuppression", inputs);
  if (op.centre_and_size) node.set("center_point_box", std::int64_t{1});
  write_free_rows(layer, node.output(), 0);
}

void write(const RoiAlign& op, LayerNodes& layer) {
  layer.need_opset(16);
  Names inputs = layer.inputs();
  inputs[2] = input_as(layer, DataType::int64, 2);
  layer.node("RoiAlign", inputs, layer.outputs())
      .set("spatial_scale", op.scale)
      .set("sampling_ratio", op.sampling_ratio)
      .set("mode", op.maximum ? "max" : "avg")
      .set("coordinate_transformation_mode", op.half_pixel ? "half_pixel" : "output_half_pixel")
      .set("output_height", layer.output_shape()[2])
      .set("output_width", layer.output_shape()[3]);
}

}  // namespace millrace::formats::onnx_writer
