#include <cmath>

#include "explore/mapping/problem.h"

namespace millrace::explore {
namespace {

struct Place {
  std::size_t stage = 0, phase = 0;
  bool operator==(const Place&) const = default;
};

std::vector<Place> places_of(const Problem& problem, const plan::Plan& plan) {
  std::vector<Place> places(problem.layers);
  for (std::size_t s = plan.stages.size(); s-- > 0;)  // of replicas the first
    for (std::size_t p = 0; p < plan.stages[s].phases.size(); ++p)
      for (const LayerId layer : plan.stages[s].phases[p].layers) places[layer.index] = {s, p};
  return places;
}

}  // namespace

std::vector<std::vector<Time>> phase_times(const Problem& problem, const plan::Plan& plan,
                                           const plan::Mapping& mapping) {
  const std::vector<Place> places = places_of(problem, plan);
  std::vector<std::vector<double>> sums;
  for (const plan::Stage& stage : plan.stages) {
    const LayerId any = stage.phases.front().layers.front();
    const std::size_t processor = mapping.processors[any.index].index;
    sums.emplace_back(stage.phases.size(), problem.borders_of(processor).launch_ns);
  }
  const auto sum_at = [&](std::size_t layer) -> double& {
    return sums[places[layer].stage][places[layer].phase];
  };
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    const auto group = problem.fused_into[layer];
    const bool together = !group || places[*group] == places[layer];
    const std::size_t processor = mapping.processors[layer].index;
    sum_at(layer) += together ? problem.time[layer][processor] : problem.alone[layer][processor];
  }
  for (const Problem::Edge& edge : problem.edges) {
    const ProcessorId from = mapping.processors[edge.from], to = mapping.processors[edge.to];
    if (from == to) continue;
    const auto elements = static_cast<double>(edge.elements);
    const Problem::Borders writer = problem.borders_of(from.index);
    const Problem::Borders reader = problem.borders_of(to.index);
    sum_at(edge.from) += writer.border_ns + writer.write_ns * elements;
    sum_at(edge.to) += reader.border_ns + reader.read_ns * elements;
  }
  std::vector<std::vector<Time>> result;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const LayerId any = plan.stages[s].phases.front().layers.front();
    auto& times = result.emplace_back();
    for (const double sum : sums[places[any.index].stage]) times.emplace_back(std::llround(sum));
  }
  return result;
}

}  // namespace millrace::explore
