#include "network/onnx/graph/names.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <unordered_map>

namespace millrace::network::onnx {
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

std::vector<std::string> names_read(const ::onnx::NodeProto& node) {
  std::vector<std::string> names;
  add_names_read(node, names);
  return names;
}

std::unordered_set<std::string> needed_names(const ::onnx::GraphProto& graph) {
  std::unordered_map<std::string, int> maker;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& output : graph.node(i).output()) maker.emplace(output, i);
  std::unordered_set<std::string> needed;
  std::vector<std::string> waiting;
  for (const auto& output : graph.output()) waiting.push_back(output.name());
  std::vector<bool> done(static_cast<std::size_t>(graph.node_size()));
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (!needed.insert(name).second) continue;
    const auto made = maker.find(name);
    if (made == maker.end() || done[static_cast<std::size_t>(made->second)]) continue;
    done[static_cast<std::size_t>(made->second)] = true;
    const std::vector<std::string> names = names_read(graph.node(made->second));
    waiting.insert(waiting.end(), names.begin(), names.end());
  }
  return needed;
}

}  // namespace millrace::network::onnx
