#pragma once
// The window of convolutions and pools, from a node's attributes.
#include "formats/onnx/node/node.h"

namespace millrace::formats::onnx {

/// Spatial sizes of an N,C,... tensor: its shape without the first two dimensions. Fails unless
/// there are 1 to 3 of them.
Shape spatial_sizes(const Node& node, const Shape& shape);

/// Kernel, strides, dilations and pads; automatic padding is left to the caller. `weight_kernel`
/// is the kernel that the weights have; empty for a pool.
Window read_window(const Node& node, std::size_t dimensions, const Shape& weight_kernel);

/// NOTSET, SAME_UPPER, SAME_LOWER or VALID.
std::string automatic_padding(const Node& node);

/// How far the window reaches in dimension i.
std::int64_t reach(const Window& window, std::size_t i);

/// The output's spatial sizes of a sliding window; resolves automatic padding into `window`.
Shape slide(const Node& node, const Shape& sizes, bool round_up, Window& window);

}  // namespace millrace::formats::onnx
