#pragma once
// Nodes of one opset as nodes of a later one.
#include <cstdint>

#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

struct Raise {
  std::int64_t from = 13, to = 13;
};
/// Changes the node so that it means the same in the later opset; from opset 11 on. Refuses the
/// layer where that is not possible.
void raise_node(LayerNodes& layer, ::onnx::NodeProto& node, Raise raise);

}  // namespace millrace::formats::onnx_writer
