#include "system/task_edges.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "dataflow/buffers.h"

namespace millrace::system {
namespace {

/// How long the search for the smallest spaces may take: not in time, so that it always finds the
/// same.
constexpr std::int64_t most_tries = 2000;

/// A tensor of the network, seen from an edge that leads to it or from it.
struct TensorEnd {
  const GraphEdge& edge;
  const network::Tensor& tensor;
  std::int64_t tokens = 1;  // that make the tensor
};

[[noreturn]] void refuse(const TensorEnd& end, const std::string& found) {
  const network::Tensor& tensor = end.tensor;
  throw InputError(end.edge.place,
                   fmt::format("carries {}, and the network's tensor '{}' is {}", found,
                               tensor.name, to_text(TokenType{tensor.type, tensor.shape})));
}

/// Several tokens make a tensor if they have as many elements together.
void check_end(const TensorEnd& end) {
  const GraphEdge& edge = end.edge;
  const network::Tensor& tensor = end.tensor;
  const std::string times = end.tokens == 1 ? "" : fmt::format("{} times ", end.tokens);
  if (edge.token) {
    const std::int64_t elements = network::element_count(edge.token->shape);
    const bool fits = end.tokens == 1
                          ? edge.token->shape == tensor.shape
                          : end.tokens * elements == network::element_count(tensor.shape);
    if (!fits || edge.token->type != tensor.type) refuse(end, times + to_text(*edge.token));
  } else if (edge.bytes != 0 && edge.bytes * end.tokens != tensor.size().count) {
    refuse(end, fmt::format("{}{} bytes", times, edge.bytes));
  } else if (tensor.size().count % end.tokens != 0) {
    refuse(end, fmt::format("it in {} parts", end.tokens));
  }
}

}  // namespace

std::vector<std::size_t> outputs_of_edges(const TaskGraph& graph) {
  std::vector<std::size_t> next(graph.tasks.size() + 1), result;
  for (const GraphEdge& edge : graph.edges) {
    std::size_t& following = next[edge.from];
    const std::size_t output = edge.output ? static_cast<std::size_t>(*edge.output) : following;
    following = std::max(following, output + 1);
    result.push_back(output);
  }
  return result;
}

std::vector<std::int64_t> spaces_without_waits(const TaskGraph& graph, bool has_network,
                                               std::int64_t iterations) {
  const std::vector<std::int64_t> counts = firings(graph, has_network);
  std::vector<std::int64_t> result;
  for (const GraphEdge& edge : graph.edges)
    result.push_back(edge.tokens + edge.produces * counts[edge.from] * iterations);
  return result;
}

std::vector<std::int64_t> smallest_spaces(const TaskGraph& graph, bool has_network) {
  std::vector<std::int64_t> result = spaces_without_waits(graph, has_network, 1);
  dataflow::SizingOptions options;
  options.max_tries = most_tries;
  const auto found =
      dataflow::smallest_buffers(dataflow_graph(graph, has_network), std::nullopt, options);
  if (!found) return result;
  // Edges from a task to itself have no capacity of their own there.
  for (std::size_t e = 0; e < result.size(); ++e)
    if (graph.edges[e].from != graph.edges[e].to) result[e] = found->capacities[e];
  return result;
}

std::string to_text(const TokenType& token) {
  return fmt::format("{} {}", network::to_text(token.type), network::to_text(token.shape));
}

Bytes size_of(const TokenType& token) {
  return network::size_of(token.type) * network::element_count(token.shape);
}

void check_tensors(const TaskGraph& graph, const network::Network& network) {
  const std::vector<std::size_t> outputs = outputs_of_edges(graph);
  std::size_t input = 0;
  const auto tensor_of = [&](const GraphEdge& edge, const std::vector<TensorId>& tensors,
                             std::size_t index, const char* what) -> const network::Tensor& {
    if (index < tensors.size()) return network[tensors[index]];
    throw InputError(edge.place, fmt::format("is for {} {} of the network, which has {}", what,
                                             index, tensors.size()));
  };
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const GraphEdge& edge = graph.edges[e];
    if (edge.to == graph.network())
      check_end({edge, tensor_of(edge, network.inputs, input++, "input"), edge.consumes});
    if (edge.from == graph.network())
      check_end({edge, tensor_of(edge, network.outputs, outputs[e], "output"), edge.produces});
  }
}

void check_spaces(const TaskGraph& graph, const std::vector<std::int64_t>& spaces,
                  const std::vector<std::int64_t>& token_bytes) {
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const std::int64_t bytes = std::max<std::int64_t>(token_bytes[e], 1);
    if (spaces[e] > most_tokens_of_edge || spaces[e] > most_bytes_of_edge / bytes)
      throw InputError(
          graph.edges[e].place,
          fmt::format("would hold {} tokens of {} bytes, expected at most {} tokens and "
                      "{} together; choose smaller rates or fewer tokens",
                      spaces[e], token_bytes[e], most_tokens_of_edge,
                      millrace::to_text(Bytes{most_bytes_of_edge})));
  }
}

}  // namespace millrace::system
