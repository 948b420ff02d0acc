#pragma once
// The order in which the nodes of a file can be computed.
#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "formats/onnx/graph/names.h"

namespace millrace::formats::onnx {

/// Names for the nodes, unique and not empty: the file's where it has one, else "Conv_12".
std::vector<std::string> node_names(const NodeList& list);

/// Values by name.
struct GraphValues {
  std::unordered_set<std::string> given;   // known without any node
  std::unordered_set<std::string> needed;  // an output depends on them
};

/// Indices of the nodes that make something needed, each after those it depends on, and in the
/// file's order where that is one. InputError at `file` for a cycle, a value that nothing makes and
/// one that two nodes make.
std::vector<std::size_t> computation_order(const NodeList& list, const GraphValues& values,
                                           const std::string& file);

}  // namespace millrace::formats::onnx
