#pragma once
// Which names the nodes of a graph read, and which of them its outputs need.
#include <string>
#include <unordered_set>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace millrace::formats::onnx {

/// Nodes that are read together, borrowed from the file, and the values that they are read for.
struct NodeList {
  std::vector<const ::onnx::NodeProto*> nodes;
  std::vector<std::string> outputs;
};
NodeList nodes_of(const ::onnx::GraphProto& graph);

/// The node's inputs, and what the graphs inside of it read from outside of them.
std::vector<std::string> names_read(const ::onnx::NodeProto& node);

/// All names that an output depends on, itself included.
std::unordered_set<std::string> needed_names(const NodeList& list);

}  // namespace millrace::formats::onnx
