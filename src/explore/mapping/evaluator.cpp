#include "explore/mapping/evaluator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace millrace::explore {

std::vector<Gene> genes_of(const plan::Mapping& mapping) {
  std::vector<Gene> genes;
  for (const ProcessorId processor : mapping.processors)
    genes.push_back(static_cast<Gene>(processor.index));
  return genes;
}

Evaluator::Evaluator(const Problem& problem)
    : processors_(problem.processors),
      resources_(problem.processors),
      ends_(problem.layers),
      edges_(problem.edges) {
  for (const Problem::End& end : problem.ends) ends_[end.layer].push_back(end);
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    leaders_.push_back(problem.fused_into[layer].value_or(layer));
    together_.insert(together_.end(), problem.time[layer].begin(), problem.time[layer].end());
    alone_.insert(alone_.end(), problem.alone[layer].begin(), problem.alone[layer].end());
    auto& able = able_.emplace_back();
    for (std::size_t p = 0; p < processors_; ++p)
      if (std::isfinite(problem.time[layer][p])) able.push_back(p);
  }
  for (std::size_t p = 0; p < processors_; ++p) borders_.push_back(problem.borders_of(p));
  name_copy_engines();
  has_feeding_ = std::ranges::any_of(borders_, [](const auto& each) { return each.feeding > 0; });
}

/// Processors of one device share them.
void Evaluator::name_copy_engines() {
  std::map<std::string, std::pair<std::size_t, std::size_t>> of_space;
  for (std::size_t p = 0; p < processors_; ++p) {
    const int engines = borders_[p].copy_engines;
    if (engines > 0 && !of_space.contains(borders_[p].space)) {
      of_space[borders_[p].space] = {resources_, resources_ + (engines > 1 ? 1 : 0)};
      resources_ += engines > 1 ? 2 : 1;
    }
    const auto [in, out] = engines > 0 ? of_space[borders_[p].space] : std::pair(p, p);
    reads_on_.push_back(in);
    writes_on_.push_back(out);
  }
}

void Evaluator::processor_times(std::span<const Gene> genes, std::span<double> times) const {
  std::fill(times.begin(), times.end(), 0.0);
  for (std::size_t layer = 0; layer < leaders_.size(); ++layer) {
    times[genes[layer]] += layer_time(layer, genes[layer], genes[leaders_[layer]]);
    add_ends(layer, genes[layer], 1, times);
  }
  for (const Problem::Edge& edge : edges_) add_edge(edge, genes, 1, times);
  if (has_feeding_) add_feeding(times, borders_);
}

}  // namespace millrace::explore
