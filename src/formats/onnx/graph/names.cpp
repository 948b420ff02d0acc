#include "formats/onnx/graph/names.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_map>

namespace millrace::formats::onnx {
namespace {

void add_names_read(const ::onnx::NodeProto& node, std::vector<std::string>& names);

/// Names that the graph reads but neither makes nor brings.
void add_captured(const ::onnx::GraphProto& graph, std::vector<std::string>& names) {
  std::vector<std::string> read;
  std::unordered_set<std::string> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& weight : graph.initializer()) own.insert(weight.name());
  for (const ::onnx::NodeProto& node : graph.node()) {
    add_names_read(node, read);
    own.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : graph.output()) read.push_back(output.name());
  std::copy_if(read.begin(), read.end(), std::back_inserter(names),
               [&](const std::string& name) { return !own.contains(name); });
}

void add_names_read(const ::onnx::NodeProto& node, std::vector<std::string>& names) {
  for (const std::string& input : node.input())
    if (!input.empty()) names.push_back(input);
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_captured(attribute.g(), names);
    for (const ::onnx::GraphProto& graph : attribute.graphs()) add_captured(graph, names);
  }
}

}  // namespace

NodeList nodes_of(const ::onnx::GraphProto& graph) {
  NodeList list;
  for (const ::onnx::NodeProto& node : graph.node()) list.nodes.push_back(&node);
  for (const auto& output : graph.output()) list.outputs.push_back(output.name());
  return list;
}

std::vector<std::string> names_read(const ::onnx::NodeProto& node) {
  std::vector<std::string> names;
  add_names_read(node, names);
  return names;
}

std::unordered_set<std::string> needed_names(const NodeList& list) {
  std::unordered_map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < list.nodes.size(); ++i)
    for (const std::string& output : list.nodes[i]->output()) maker.emplace(output, i);
  std::unordered_set<std::string> needed;
  std::vector<std::string> waiting = list.outputs;
  std::vector<bool> done(list.nodes.size());
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (!needed.insert(name).second) continue;
    const auto made = maker.find(name);
    if (made == maker.end() || done[made->second]) continue;
    done[made->second] = true;
    const std::vector<std::string> names = names_read(*list.nodes[made->second]);
    waiting.insert(waiting.end(), names.begin(), names.end());
  }
  return needed;
}

}  // namespace millrace::formats::onnx
