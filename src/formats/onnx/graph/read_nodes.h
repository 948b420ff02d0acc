#pragma once
// A graph's nodes, those of graphs inside of nodes, and functions of the model.
#include <span>

#include "formats/onnx/graph/names.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/reading.h"

namespace millrace::formats::onnx {

/// Lowers the nodes that the outputs need, in an order that works; names that they read
/// are known to the reading. A node that cannot be lowered leaves a problem in its outputs' place.
/// InputError for graphs that are none: cycles, values that nothing makes.
void read_nodes(Reading& reading, const NodeList& list);

/// If and Loop: the branch that is taken, and the rounds one after the other.
std::span<const OperatorEntry> control_operators();

}  // namespace millrace::formats::onnx
