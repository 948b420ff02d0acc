#include "explore/mapping/joined.h"

#include <algorithm>

namespace millrace::explore {
namespace {

void append_scaled(std::vector<std::vector<double>>& times,
                   const std::vector<std::vector<double>>& more, std::int64_t runs) {
  for (std::vector<double> row : more) {
    for (double& time : row) time *= static_cast<double>(runs);
    times.push_back(std::move(row));
  }
}

/// Many equal edges only where an edge costs more than its elements.
void append_edges(Problem& result, const Problem& second, std::int64_t runs) {
  const bool has_fixed_costs =
      result.borders_of(0).border_ns > 0 ||
      std::ranges::any_of(result.borders, [](const auto& each) { return each.border_ns > 0; });
  for (Problem::Edge edge : second.edges) {
    edge.from += result.layers;
    edge.to += result.layers;
    edge.slot = {};
    if (!has_fixed_costs) edge.elements *= runs;
    result.edges.insert(result.edges.end(),
                        has_fixed_costs ? static_cast<std::size_t>(runs) : std::size_t{1}, edge);
  }
}

}  // namespace

Problem joined(const Problem& first, const Problem& second, std::int64_t runs) {
  Problem result = first;
  append_scaled(result.time, second.time, runs);
  append_scaled(result.alone, second.alone, runs);
  result.variants.insert(result.variants.end(), second.variants.begin(), second.variants.end());
  for (const auto& leader : second.fused_into)
    result.fused_into.push_back(leader ? std::optional(*leader + first.layers) : std::nullopt);
  append_edges(result, second, runs);
  result.refusals.clear();
  result.layers = first.layers + second.layers;
  return result;
}

std::pair<plan::Mapping, plan::Mapping> separated(const plan::Mapping& mapping,
                                                  std::size_t layers_of_first) {
  const auto border = mapping.processors.begin() + static_cast<std::ptrdiff_t>(layers_of_first);
  plan::Mapping first, second;
  first.processors.assign(mapping.processors.begin(), border);
  second.processors.assign(border, mapping.processors.end());
  return {std::move(first), std::move(second)};
}

}  // namespace millrace::explore
