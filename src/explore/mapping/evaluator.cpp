#include "explore/mapping/evaluator.h"

#include <algorithm>
#include <cmath>

namespace millrace::explore {

std::vector<Gene> genes_of(const plan::Mapping& mapping) {
  std::vector<Gene> genes;
  for (const ProcessorId processor : mapping.processors)
    genes.push_back(static_cast<Gene>(processor.index));
  return genes;
}

Evaluator::Evaluator(const Problem& problem)
    : processors_(problem.processors), edges_(problem.edges) {
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    leaders_.push_back(problem.fused_into[layer].value_or(layer));
    together_.insert(together_.end(), problem.time[layer].begin(), problem.time[layer].end());
    alone_.insert(alone_.end(), problem.alone[layer].begin(), problem.alone[layer].end());
    auto& able = able_.emplace_back();
    for (std::size_t p = 0; p < processors_; ++p)
      if (std::isfinite(problem.time[layer][p])) able.push_back(p);
  }
  for (std::size_t p = 0; p < processors_; ++p) borders_.push_back(problem.borders_of(p));
  has_feeding_ = std::ranges::any_of(borders_, [](const auto& each) { return each.feeding > 0; });
}

void Evaluator::processor_times(std::span<const Gene> genes, std::span<double> times) const {
  std::fill(times.begin(), times.end(), 0.0);
  for (std::size_t layer = 0; layer < leaders_.size(); ++layer)
    times[genes[layer]] += layer_time(layer, genes[layer], genes[leaders_[layer]]);
  for (const Problem::Edge& edge : edges_) {
    const std::size_t from = genes[edge.from], to = genes[edge.to];
    if (from == to) continue;
    times[from] += write_ns(edge, from);
    times[to] += read_ns(edge, to);
  }
  if (has_feeding_) add_feeding(times, borders_);
}

}  // namespace millrace::explore
