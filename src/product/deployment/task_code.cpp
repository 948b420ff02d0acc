#include "product/deployment/task_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

#include "base/error.h"
#include "system/task_edges.h"

namespace millrace::product {
namespace {

using application::LoadedTask;
using system::GraphEdge;
using system::GraphTask;
using system::TokenType;

std::optional<LoadedTask> task_in_libraries(const std::vector<std::string>& libraries,
                                            const std::string& function) {
  for (const std::string& library : libraries)
    if (application::has_task(library, function)) return application::load_task(library, function);
  return std::nullopt;
}

LoadedTask task_of(const GraphTask& task, const TaskSources& sources) {
  const system::TaskCode& code = task.code;
  if (code.function.empty()) return {};
  if (const auto linked = sources.linked.find(code.function); linked != sources.linked.end()) {
    if (linked->second == nullptr)
      throw InputError(task.place, fmt::format("the program's table has nothing for the function "
                                               "'{}'",
                                               code.function));
    check(*linked->second, task.place, code.function);
    return {linked->second, nullptr};
  }
  if (const auto found = task_in_libraries(sources.libraries, code.function)) return *found;
  if (!code.plugin.empty()) return application::load_task(code.plugin, code.function);
  if (sources.may_lack) return {};
  if (!sources.libraries.empty())
    throw InputError(
        task.place, fmt::format("none of the libraries of ⟨plugin⟩ has an object '{}_task' for the "
                                "function '{}' of task '{}'; build {} as a library, and name that",
                                code.function, code.function, task.name, code.source));
  throw InputError(
      task.place,
      fmt::format("the function '{}' of task '{}' is in the source file {}; build it as a library "
                  "and name that with ⟨plugin⟩, or write the program with 'millrace export "
                  "⟨format⟩ cpp'",
                  code.function, task.name, code.source));
}

/// One end of an edge, and what it says of a token.
struct EdgeEnd {
  std::string who;  // "task 'blur' takes"
  std::optional<TokenType> token = {};
};

std::optional<TokenType> token_of(const application::TaskPort& port, const GraphTask& task) {
  if (port.type.empty()) return std::nullopt;
  const auto type = network::data_type_named(port.type);
  if (!type)
    throw InputError(task.place, fmt::format("the description of the function '{}' has a type "
                                             "'{}', expected one of numbers, such as uint8 or "
                                             "float32",
                                             task.code.function, port.type));
  constexpr std::int64_t longest = std::int64_t{1} << 40;
  if (std::ranges::any_of(port.shape, [](auto length) { return length < 1 || length > longest; }))
    throw InputError(task.place, fmt::format("the description of the function '{}' has the shape "
                                             "{}, expected lengths of 1 or more",
                                             task.code.function, network::to_text(port.shape)));
  network::element_count(port.shape, task.place);
  return TokenType{*type, port.shape};
}

/// What is known of a group's edges.
class Edges {
 public:
  Edges(const system::Group& group, const network::Network* network, const GroupCode& code)
      : graph_(group.graph),
        network_(network),
        code_(code),
        outputs_(system::outputs_of_edges(group.graph)) {
    std::vector<std::size_t> inputs(graph_.tasks.size() + 1);
    for (const GraphEdge& edge : graph_.edges) inputs_.push_back(inputs[edge.to]++);
    for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
      check_counts(t, inputs[t]);
      check_tensors_of(t, inputs[t]);
    }
  }

  /// What a token of the edge is, as all say it that say anything.
  std::optional<TokenType> token_of_edge(std::size_t e) const {
    const GraphEdge& edge = graph_.edges[e];
    std::optional<TokenType> known;
    std::string said_by;
    for (const EdgeEnd& end : {EdgeEnd{"the edge carries", edge.token}, producer(e), consumer(e)}) {
      if (!end.token) continue;
      if (known && *known != *end.token)
        throw InputError(edge.place, fmt::format("{} {}, and {} {}", said_by, to_text(*known),
                                                 end.who, to_text(*end.token)));
      known = end.token;
      said_by = end.who;
    }
    if (known && edge.bytes != 0 && edge.bytes != size_of(*known).count)
      throw InputError(edge.place, fmt::format("says that a token has {} bytes, and {} {}",
                                               edge.bytes, said_by, to_text(*known)));
    return known;
  }

  std::int64_t bytes_of(std::size_t e, const std::optional<TokenType>& token) const {
    const GraphEdge& edge = graph_.edges[e];
    const std::int64_t bytes = token ? size_of(*token).count : size_without_type(e);
    if (bytes == 0 && (has_code(edge.from) || has_code(edge.to)))
      throw InputError(edge.place,
                       "nothing says how large a token is; add 'type' and 'shape', or 'bytes', or "
                       "a type in the port of a function");
    return bytes;
  }

 private:
  void check_counts(std::size_t t, std::size_t inputs) const {
    if (!has_code(t)) return;
    const application::Task& task = *code_.tasks[t].task;
    std::set<std::size_t> carried;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e)
      if (graph_.edges[e].from == t) carried.insert(outputs_[e]);
    const std::size_t outputs = carried.size();
    const bool is_gapless = carried.empty() || *carried.rbegin() + 1 == outputs;
    if (task.inputs.size() != inputs || task.outputs.size() != outputs || !is_gapless)
      throw InputError(
          graph_.tasks[t].place,
          fmt::format("the function '{}' has {} inputs and {} outputs, and edges lead to {} inputs "
                      "and from {} outputs of task '{}'{}",
                      graph_.tasks[t].code.function, task.inputs.size(), task.outputs.size(),
                      inputs, outputs, graph_.tasks[t].name,
                      is_gapless ? "" : ", which are not numbered from 0 on"));
  }

  /// Checks a task that runs a network.
  void check_tensors_of(std::size_t t, std::size_t inputs) const {
    if (!network_of(t)) return;
    const network::Network& network = network_of(t)->network;
    const GraphTask& task = graph_.tasks[t];
    if (inputs != network.inputs.size())
      throw InputError(task.place, fmt::format("the network of task '{}' has {} inputs, and {} "
                                               "edges lead to it; give an edge for each",
                                               task.name, network.inputs.size(), inputs));
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const GraphEdge& edge = graph_.edges[e];
      if (edge.from == t && outputs_[e] >= network.outputs.size())
        throw InputError(edge.place,
                         fmt::format("carries output {} of task '{}', whose network has {} outputs",
                                     outputs_[e], task.name, network.outputs.size()));
      if (edge.from == t) check_divides(edge, network[network.outputs[outputs_[e]]], edge.produces);
      if (edge.to == t) check_divides(edge, network[network.inputs[inputs_[e]]], edge.consumes);
    }
  }
  static void check_divides(const GraphEdge& edge, const network::Tensor& tensor,
                            std::int64_t tokens) {
    if (tensor.size().count % tokens == 0) return;
    throw InputError(edge.place, fmt::format("the tensor '{}' of {} cannot be divided into {} "
                                             "tokens; choose another number",
                                             tensor.name, network::to_text(tensor.shape), tokens));
  }

  const NetworkOfTask* network_of(std::size_t node) const {
    return node < code_.networks.size() ? code_.networks[node].get() : nullptr;
  }
  bool has_code(std::size_t node) const {
    return node < code_.tasks.size() && code_.tasks[node].task != nullptr;
  }

  /// A tensor is one token, if the network takes or makes one at once.
  EdgeEnd tensor(const network::Network& network, TensorId id, std::int64_t tokens) const {
    if (tokens != 1) return {};
    return {"the network's tensor is", TokenType{network[id].type, network[id].shape}};
  }

  /// A tensor of a task's network: a token is all of it, or what is of one part of the batch.
  EdgeEnd tensor_of_task(std::size_t t, TensorId id, std::int64_t tokens) const {
    const network::Tensor& tensor = network_of(t)->network[id];
    TokenType token{tensor.type, tensor.shape};
    if (tokens != 1 && (token.shape.empty() || token.shape[0] != tokens)) return {};
    if (tokens != 1) token.shape[0] = 1;
    return {fmt::format("the network of task '{}' has", graph_.tasks[t].name), std::move(token)};
  }

  EdgeEnd producer(std::size_t e) const {
    const GraphEdge& edge = graph_.edges[e];
    if (const NetworkOfTask* node = network_of(edge.from))
      return tensor_of_task(edge.from, node->network.outputs[outputs_[e]], edge.produces);
    if (edge.from == graph_.network())
      return tensor(*network_, network_->outputs.at(outputs_[e]), edge.produces);
    if (!has_code(edge.from)) return {};
    const GraphTask& task = graph_.tasks[edge.from];
    return {fmt::format("task '{}' makes", task.name),
            token_of(code_.tasks[edge.from].task->outputs[outputs_[e]], task)};
  }

  EdgeEnd consumer(std::size_t e) const {
    const GraphEdge& edge = graph_.edges[e];
    if (const NetworkOfTask* node = network_of(edge.to))
      return tensor_of_task(edge.to, node->network.inputs[inputs_[e]], edge.consumes);
    if (edge.to == graph_.network())
      return tensor(*network_, network_->inputs.at(inputs_[e]), edge.consumes);
    if (!has_code(edge.to)) return {};
    const GraphTask& task = graph_.tasks[edge.to];
    return {fmt::format("task '{}' takes", task.name),
            token_of(code_.tasks[edge.to].task->inputs[inputs_[e]], task)};
  }

  /// Size of a part of a tensor, or as the edge says it.
  std::int64_t size_without_type(std::size_t e) const {
    const GraphEdge& edge = graph_.edges[e];
    if (const NetworkOfTask* node = network_of(edge.from))
      return node->network[node->network.outputs[outputs_[e]]].size().count / edge.produces;
    if (const NetworkOfTask* node = network_of(edge.to))
      return node->network[node->network.inputs[inputs_[e]]].size().count / edge.consumes;
    if (edge.bytes != 0) return edge.bytes;
    if (edge.from == graph_.network())
      return (*network_)[network_->outputs.at(outputs_[e])].size().count / edge.produces;
    if (edge.to == graph_.network())
      return (*network_)[network_->inputs.at(inputs_[e])].size().count / edge.consumes;
    return 0;
  }

  const system::TaskGraph& graph_;
  const network::Network* network_;
  const GroupCode& code_;
  const std::vector<std::size_t> outputs_;  // by edge
  std::vector<std::size_t> inputs_;         // by edge
};

/// An application fills the inputs itself.
void refuse_two_inputs(const system::Group& group) {
  if (group.application.empty()) return;
  for (const GraphEdge& edge : group.graph.edges)
    if (edge.to == group.graph.network())
      throw InputError(edge.place,
                       "leads to the network of an application, whose pictures are its "
                       "input; name the 'model' in place of the application");
}

}  // namespace

GroupCode open_code(const system::Group& group, const network::Network* network,
                    const TaskSources& sources, const Context& context) {
  GroupCode code;
  refuse_two_inputs(group);
  if (network != nullptr) system::check_tensors(group.graph, *network);
  for (const GraphTask& task : group.graph.tasks) {
    code.tasks.push_back(task_of(task, sources));
    code.networks.push_back(open_network_of(task, context));
  }
  const Edges edges(group, network, code);
  system::TaskGraph typed = group.graph;
  for (std::size_t e = 0; e < typed.edges.size(); ++e)
    typed.edges[e].token = edges.token_of_edge(e);
  if (network != nullptr) system::check_tensors(typed, *network);
  for (std::size_t e = 0; e < typed.edges.size(); ++e)
    code.token_bytes.push_back(edges.bytes_of(e, typed.edges[e].token));
  system::check_spaces(typed, system::spaces_without_waits(typed, network != nullptr, 1),
                       code.token_bytes);
  return code;
}

std::vector<runtime::TaskToRun> tasks_to_run(const system::TaskGraph& graph,
                                             const GroupCode& code) {
  const std::vector<std::size_t> outputs = system::outputs_of_edges(graph);
  std::vector<runtime::TaskToRun> tasks;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const LoadedTask& loaded = code.tasks[t];
    const GraphTask& task = graph.tasks[t];
    runtime::TaskToRun& added = tasks.emplace_back();
    if (loaded.task != nullptr)
      added = application::code_of(loaded, task.name, task.code.parameters);
    if (code.networks[t] == nullptr) continue;
    std::set<std::size_t> carried;
    for (std::size_t e = 0; e < graph.edges.size(); ++e)
      if (graph.edges[e].from == t) carried.insert(outputs[e]);
    added = code_of(code.networks[t], {carried.begin(), carried.end()});
  }
  return tasks;
}

}  // namespace millrace::product
