#pragma once
// The part of a graph whose sizes are known only when the network runs.
#include "formats/onnx/reading.h"

namespace onnx {
class GraphProto;
}

namespace millrace::formats::onnx {

/// Puts one layer in the place of all nodes that an output needs and that could not be read
/// because sizes depend on values. Does nothing if there are none, or if an operator is missing.
/// InputError if the outputs have no largest size; it names the node that is the obstacle.
void read_varying_part(Reading& reading, const ::onnx::GraphProto& graph);

}  // namespace millrace::formats::onnx
