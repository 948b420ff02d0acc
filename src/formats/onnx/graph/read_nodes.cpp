#include "formats/onnx/graph/read_nodes.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "base/excerpt.h"
#include "formats/onnx/graph/functions.h"
#include "formats/onnx/graph/opaque.h"
#include "formats/onnx/lower.h"
#include "formats/onnx/order.h"

namespace millrace::formats::onnx {
namespace {

std::string operator_of(const ::onnx::NodeProto& node) {
  const bool own = node.domain().empty() || node.domain() == "ai.onnx";
  return own ? node.op_type() : node.domain() + "." + node.op_type();
}

/// Long names would be copied for every round of a loop, and shown in tables.
void check_names(const NodeList& list, const std::string& file) {
  constexpr std::size_t longest = 4096;
  for (std::size_t i = 0; i < list.nodes.size(); ++i) {
    const ::onnx::NodeProto& node = *list.nodes[i];
    const auto check = [&](const std::string& name) {
      if (name.size() <= longest) return;
      throw InputError(
          file, fmt::format("node {} ({}) has or uses the name '{}', which is {} bytes long; names "
                            "can have at most {}, choose a shorter one",
                            i, short_name(node.op_type()), short_name(name), name.size(), longest));
    };
    for (const std::string* name : {&node.op_type(), &node.domain(), &node.name()}) check(*name);
    std::for_each(node.input().begin(), node.input().end(), check);
    std::for_each(node.output().begin(), node.output().end(), check);
  }
}

/// What the nodes read and do not make, as far as it is known from outside.
std::unordered_set<std::string> given_names(Reading& reading, const NodeList& list) {
  std::unordered_set<std::string> given;
  for (const ::onnx::NodeProto* node : list.nodes) {
    std::vector<std::string> names = names_read(*node);
    if (reading.names.is_inside()) reading.inside.count_node(names.size());
    for (std::string& name : names)
      if (reading.names.knows(name)) given.insert(std::move(name));
  }
  for (const ::onnx::NodeProto* node : list.nodes)
    for (const std::string& name : node->output()) {
      given.erase(name);
      if (reading.names.is_own(name)) given.insert(name);
    }
  return given;
}

void leave_problem(Reading& reading, const NodeToRead& node, Problem problem) {
  problem.node = node.name;
  const std::size_t index = reading.problems.add(std::move(problem));
  for (const std::string& output : node.proto.output())
    if (!output.empty()) reading.names.replace(output, {std::nullopt, index});
}

void lower_node(Reading& reading, const NodeToRead& node, const std::string& op_type) {
  if (const auto* function = find_function(reading, node.proto))
    return call_function(reading, *function, node);
  if (reading.source.foreign != nullptr && !is_supported(op_type))
    return read_opaque(reading, node, op_type);
  Node lowered(reading, node.proto, node.name, node.needed);
  lower(lowered, op_type);
}

/// Of a node that is known but refused: whether an engine runs it.
bool is_read_elsewhere(Reading& reading, const NodeToRead& node, const std::string& op_type) {
  if (!reading.source.asks_for_all || find_function(reading, node.proto) != nullptr ||
      !is_supported(op_type) || op_type == "Dropout")  // in training mode it is random
    return false;
  try {
    read_opaque(reading, node, op_type);
    return true;
  } catch (const InputError&) {
    return false;  // the refusal says more
  }
}

void read_node(Reading& reading, const NodeToRead& node) {
  const std::string op_type = operator_of(node.proto);
  const bool known = is_supported(op_type) || find_function(reading, node.proto) != nullptr;
  const bool asks = !known && reading.source.foreign != nullptr;
  Problem problem{known || asks ? "" : op_type, {}, {}, {}};
  const auto& inputs = node.proto.input();
  for (const std::string& input :
       asks ? names_read(node.proto) : std::vector<std::string>(inputs.begin(), inputs.end()))
    if (const auto cause = reading.names.problem_of(input)) problem.causes.push_back(*cause);
  if (!problem.causes.empty()) return leave_problem(reading, node, std::move(problem));
  try {
    lower_node(reading, node, op_type);
  } catch (const InputError& error) {
    if (reading.purpose == Purpose::network &&
        dynamic_cast<const TooMuchInside*>(&error) != nullptr)
      throw;
    if (is_read_elsewhere(reading, node, op_type)) return;
    if (dynamic_cast<const UnknownOperator*>(&error) != nullptr) problem.unsupported = op_type;
    problem.error.push_back(error);
    leave_problem(reading, node, std::move(problem));
  }
}

}  // namespace

void read_nodes(Reading& reading, const NodeList& list) {
  check_names(list, reading.source.file);
  const std::vector<std::string> names = node_names(list);
  const GraphValues values{given_names(reading, list), needed_names(list)};
  for (const std::size_t i : computation_order(list, values, reading.source.file)) {
    std::string name = reading.names.prefix() + names[i];
    if (reading.names.is_inside()) reading.inside.count_name(name.size());
    read_node(reading, {*list.nodes[i], std::move(name), values.needed});
  }
}

}  // namespace millrace::formats::onnx
