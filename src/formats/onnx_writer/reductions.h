#pragma once
// Reductions take their axes as an attribute or as an input, by the opset.
#include <string>

#include "formats/onnx_writer/layer_nodes.h"

namespace millrace::formats::onnx_writer {

struct ReduceNode {
  std::string type;  // "ReduceMean"
  Shape axes;
  bool keeps = true;  // the reduced dimensions stay, with size 1
};
/// From one tensor to another.
struct FromTo {
  std::string from, to;  // to: empty for a new name
};
/// Adds the node, and gives its output.
std::string add_reduction(LayerNodes& layer, const ReduceNode& reduction, const FromTo& tensors);

}  // namespace millrace::formats::onnx_writer
