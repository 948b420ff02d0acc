#include "explore/evaluator.h"

#include <algorithm>

namespace millrace::explore {

Evaluator::Evaluator(const Problem& problem) : processors_(problem.processors) {
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    leaders_.push_back(problem.fused_into[layer].value_or(layer));
    together_.insert(together_.end(), problem.time[layer].begin(), problem.time[layer].end());
    alone_.insert(alone_.end(), problem.alone[layer].begin(), problem.alone[layer].end());
  }
  for (const Problem::Edge& edge : problem.edges) {
    const auto elements = static_cast<double>(edge.elements);
    edges_.push_back({edge.from, edge.to, elements * problem.write_ns, elements * problem.read_ns});
  }
}

void Evaluator::processor_times(std::span<const std::size_t> genes, std::span<double> times) const {
  std::fill(times.begin(), times.end(), 0.0);
  for (std::size_t layer = 0; layer < leaders_.size(); ++layer)
    times[genes[layer]] += layer_time(layer, genes[layer], genes[leaders_[layer]]);
  for (const Edge& edge : edges_) {
    const std::size_t from = genes[edge.from], to = genes[edge.to];
    if (from == to) continue;
    times[from] += edge.write_ns;
    times[to] += edge.read_ns;
  }
}

}  // namespace millrace::explore
