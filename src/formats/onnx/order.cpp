#include "formats/onnx/order.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "base/error.h"

namespace millrace::formats::onnx {
namespace {

/// Which nodes wait for which.
class Order {
 public:
  Order(const NodeList& list, const std::string& file)
      : nodes_(list.nodes),
        file_(file),
        names_(node_names(list)),
        waiting_(names_.size()),
        followers_(names_.size()) {}

  void connect(const GraphValues& values) {
    collect_makers(values.given);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto& outputs = nodes_[i]->output();
      const bool is_needed =
          std::any_of(outputs.begin(), outputs.end(),
                      [&](const std::string& name) { return values.needed.contains(name); });
      needed_.push_back(is_needed);
      if (!is_needed) continue;
      for (const std::string& input : names_read(*nodes_[i]))
        if (!values.given.contains(input)) connect(i, input);
    }
  }

  std::vector<std::size_t> sorted() {
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (waiting_[i] == 0) ready.push(i);
    std::vector<std::size_t> result;
    while (!ready.empty()) {
      const std::size_t node = ready.top();
      ready.pop();
      result.push_back(node);
      for (const std::size_t follower : followers_[node])
        if (--waiting_[follower] == 0) ready.push(follower);
    }
    if (result.size() < waiting_.size()) fail_on_cycle();
    std::erase_if(result, [&](std::size_t node) { return !needed_[node]; });
    return result;
  }

 private:
  void collect_makers(const std::unordered_set<std::string>& given) {
    for (std::size_t node = 0; node < nodes_.size(); ++node)
      for (const std::string& output : nodes_[node]->output()) {
        if (output.empty()) continue;
        if (given.contains(output) || !maker_.emplace(output, node).second)
          throw InputError(file_, fmt::format("node '{}' makes '{}', which is already made "
                                              "elsewhere; every value needs a name of its own",
                                              names_[node], output));
      }
  }

  void connect(std::size_t node, const std::string& input) {
    const auto maker = maker_.find(input);
    if (maker == maker_.end())
      throw InputError(file_, fmt::format("node '{}' reads '{}', which no node, input or weight "
                                          "of the model provides; the model is incomplete",
                                          names_[node], input));
    followers_[maker->second].push_back(node);
    ++waiting_[node];
  }

  /// From a node that waits, going back to nodes that wait must come round.
  [[noreturn]] void fail_on_cycle() const {
    std::size_t node = 0;
    while (waiting_[node] == 0) ++node;
    std::vector<bool> seen(waiting_.size());
    while (!seen[node]) {
      seen[node] = true;
      node = waiting_maker(node);
    }
    throw InputError(file_, fmt::format("node '{}' ({}) depends on its own result: the graph has "
                                        "a cycle, and only acyclic ones can be computed",
                                        names_[node], nodes_[node]->op_type()));
  }

  std::size_t waiting_maker(std::size_t node) const {
    for (const std::string& input : names_read(*nodes_[node])) {
      const auto maker = maker_.find(input);
      if (maker != maker_.end() && waiting_[maker->second] > 0) return maker->second;
    }
    return node;
  }

  const std::vector<const ::onnx::NodeProto*>& nodes_;
  const std::string& file_;
  std::vector<std::string> names_;
  std::vector<bool> needed_;
  std::vector<std::size_t> waiting_;                 // by node: inputs that are not made yet
  std::vector<std::vector<std::size_t>> followers_;  // by node: who reads it
  std::unordered_map<std::string, std::size_t> maker_;
};

}  // namespace

std::vector<std::string> node_names(const NodeList& list) {
  std::unordered_map<std::string, std::size_t> taken;
  std::vector<std::string> names;
  for (const ::onnx::NodeProto* node : list.nodes) {
    const std::string base =
        node->name().empty() ? fmt::format("{}_{}", node->op_type(), names.size()) : node->name();
    std::string name = base;
    while (!taken.emplace(name, 1).second) name = fmt::format("{}_{}", base, ++taken[base]);
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::size_t> computation_order(const NodeList& list, const GraphValues& values,
                                           const std::string& file) {
  Order order(list, file);
  order.connect(values);
  return order.sorted();
}

}  // namespace millrace::formats::onnx
