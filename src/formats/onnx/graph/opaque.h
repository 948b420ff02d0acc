#pragma once
// Nodes that an engine is asked for.
#include "formats/onnx/graph/functions.h"

namespace millrace::formats::onnx {

/// Reads the node as an opaque layer. InputError that names it if there is no engine to ask, or
/// none that runs it.
void read_opaque(Reading& reading, const NodeToRead& node, const std::string& op_type);

}  // namespace millrace::formats::onnx
