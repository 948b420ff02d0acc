#pragma once
// A graph's nodes, those of graphs inside of nodes, and functions of the model.
#include <span>

#include "network/onnx/graph/names.h"
#include "network/onnx/operators/tables.h"
#include "network/onnx/reading.h"

namespace millrace::network::onnx {

/// Lowers the nodes that the outputs need, in an order that works; names that they read
/// are known to the reading. A node that cannot be lowered leaves a problem in its outputs' place.
/// InputError for graphs that are none: cycles, values that nothing makes.
void read_nodes(Reading& reading, const NodeList& list);

/// If and Loop: the branch that is taken, and the rounds one after the other.
std::span<const OperatorEntry> control_operators();

}  // namespace millrace::network::onnx
