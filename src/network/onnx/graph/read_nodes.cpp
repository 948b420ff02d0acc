#include "network/onnx/graph/read_nodes.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "network/onnx/graph/functions.h"
#include "network/onnx/graph/names.h"
#include "network/onnx/lower.h"
#include "network/onnx/order.h"

namespace millrace::network::onnx {
namespace {

std::string operator_of(const ::onnx::NodeProto& node) {
  const bool own = node.domain().empty() || node.domain() == "ai.onnx";
  return own ? node.op_type() : node.domain() + "." + node.op_type();
}

/// What the nodes read and do not make, as far as it is known from outside.
std::unordered_set<std::string> given_names(Reading& reading, const ::onnx::GraphProto& graph) {
  std::unordered_set<std::string> given;
  for (const ::onnx::NodeProto& node : graph.node()) {
    std::vector<std::string> names = names_read(node);
    reading.count_nodes(1 + names.size());
    for (std::string& name : names)
      if (reading.knows(name)) given.insert(std::move(name));
  }
  for (const ::onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.output()) {
      given.erase(name);
      if (reading.is_own(name)) given.insert(name);
    }
  return given;
}

/// One node of a graph, with its name in the network.
struct NodeToRead {
  const ::onnx::NodeProto& proto;
  std::string name;
};

void leave_problem(Reading& reading, const NodeToRead& node, Problem problem) {
  problem.node = node.name;
  const std::size_t index = reading.problems().add(std::move(problem));
  for (const std::string& output : node.proto.output())
    if (!output.empty()) reading.define_problem(output, index);
}

void lower_node(Reading& reading, const NodeToRead& node, const std::string& op_type) {
  if (const auto* function = find_function(reading, node.proto))
    return call_function(reading, *function, node.proto, node.name);
  Node lowered(reading, node.proto, node.name);
  lower(lowered, op_type);
}

void read_node(Reading& reading, const NodeToRead& node) {
  const std::string op_type = operator_of(node.proto);
  const bool known = is_supported(op_type) || find_function(reading, node.proto) != nullptr;
  Problem problem{known ? "" : op_type, {}, {}, {}};
  for (const std::string& input : node.proto.input())
    if (const auto cause = reading.problem_of(input)) problem.causes.push_back(*cause);
  if (!problem.causes.empty()) return leave_problem(reading, node, std::move(problem));
  try {
    lower_node(reading, node, op_type);
  } catch (const InputError& error) {
    problem.error.push_back(error);
    leave_problem(reading, node, std::move(problem));
  }
}

}  // namespace

void read_nodes(Reading& reading, const ::onnx::GraphProto& graph) {
  const std::vector<std::string> names = node_names(graph);
  const GraphValues values{given_names(reading, graph), needed_names(graph)};
  for (const std::size_t i : computation_order(graph, values, reading.source().file))
    read_node(reading, {graph.node(static_cast<int>(i)), reading.prefix() + names[i]});
}

}  // namespace millrace::network::onnx
