#pragma once
// Results whose size changes from frame to frame, in tensors of the largest size.
#include <string>

#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

/// Adds nodes that make output `i` of the layer of what was found: its type, and around it -1, or 0
/// where the type has no -1, up to the output's shape.
void write_free_rows(LayerNodes& layer, const std::string& found, std::size_t i);

}  // namespace millrace::formats::onnx_writer
