#pragma once
// ONNX's attributes of a window.
#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

/// How many positions the kernel reaches over in one dimension.
std::int64_t reach_of(const Window& window, std::size_t dimension);
bool has_negative(const Shape& values);
bool all_are(const Shape& values, std::int64_t value);
/// kernel_shape, strides, pads, and dilations where they are not 1.
NodeToWrite set_window(NodeToWrite node, const Window& window);

}  // namespace millrace::formats::onnx_writer
