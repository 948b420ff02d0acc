#include <algorithm>
#include <cmath>

#include "explore/mapping/problem.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

/// The stage on the core that feeds the devices does that after its last phase. A core without a
/// stage has time for it.
void add_feeding_of_phases(const Problem& problem, const plan::Plan& plan,
                           const plan::Mapping& mapping, std::vector<std::vector<double>>& sums) {
  std::vector<Problem::Borders> borders;
  for (std::size_t p = 0; p < problem.processors; ++p) borders.push_back(problem.borders_of(p));
  if (std::ranges::none_of(borders, [](const auto& each) { return each.feeding > 0; })) return;
  std::vector<double> times(problem.processors, 0);
  std::vector<std::size_t> processors;  // by stage
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const LayerId any = plan.stages[s].phases.front().layers.front();
    processors.push_back(mapping.processors[any.index].index);
    for (const double phase : sums[s]) times[processors[s]] += phase;
  }
  const std::vector<double> before = times;
  add_feeding(times, borders);
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    sums[s].back() += times[processors[s]] - before[processors[s]];
}

/// In nanoseconds, by stage and phase.
std::vector<std::vector<double>> sums_of(const Problem& problem, const plan::Plan& plan,
                                         const plan::Mapping& mapping) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
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
  add_feeding_of_phases(problem, plan, mapping, sums);
  return sums;
}

}  // namespace

plan::PhaseTimes phase_times(const Problem& problem, const plan::Plan& plan,
                             std::span<const plan::Mapping> by_replica) {
  std::vector<std::vector<std::vector<double>>> sums;
  for (const plan::Mapping& mapping : by_replica) sums.push_back(sums_of(problem, plan, mapping));
  plan::PhaseTimes times;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t r = 0; r < plan.stages[s].processors.size(); ++r) {
      std::vector<Time> phases;
      for (const double sum : sums[by_replica.size() == 1 ? 0 : r][s])
        phases.emplace_back(std::llround(sum));
      times.add(std::move(phases));
    }
  return times;
}

}  // namespace millrace::explore
