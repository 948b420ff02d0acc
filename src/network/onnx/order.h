#pragma once
// The order in which the nodes of a file can be computed.
#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

namespace onnx {
class GraphProto;
}

namespace millrace::network::onnx {

/// Names for the nodes, unique and not empty: the file's where it has one, else "Conv_12".
std::vector<std::string> node_names(const ::onnx::GraphProto& graph);

/// Indices of the nodes, each after those it depends on, and in the file's order where that is
/// one. `given`: the values known without any node. InputError at `file` for a cycle, a value
/// that nothing makes and one that two nodes make.
std::vector<std::size_t> computation_order(const ::onnx::GraphProto& graph,
                                           const std::unordered_set<std::string>& given,
                                           const std::string& file);

}  // namespace millrace::network::onnx
