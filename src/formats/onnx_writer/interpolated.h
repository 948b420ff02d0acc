#pragma once
// Resize by steps, where ONNX cannot say the scales, or libraries calculate others from them.
#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

/// Adds a Gather or a product with a matrix for each axis.
void write_interpolated(const Resize& op, LayerNodes& layer);

}  // namespace millrace::formats::onnx_writer
