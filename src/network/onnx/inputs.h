#pragma once
// What a network is given: its inputs and its weights.
#include "network/onnx/reading.h"
#include "network/read.h"

namespace onnx {
class GraphProto;
}

namespace millrace::network::onnx {

/// Moves the weights out of the graph, then adds inputs, as the options say. Weights that no
/// output needs are left out. InputError for a dimension that stays open and for options that
/// contradict the file.
void read_inputs(Reading& reading, ::onnx::GraphProto& graph, const ModelSource& source);

}  // namespace millrace::network::onnx
