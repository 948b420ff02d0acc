#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

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

/// In nanoseconds, by stage and phase; of stages, what is no work of the processor.
struct Sums {
  std::vector<std::vector<double>> times;
  std::vector<double> launches;
};

Sums sums_of(const Problem& problem, const plan::Plan& plan, const plan::Mapping& mapping) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  std::vector<std::vector<double>> sums;
  std::vector<double> launches;
  for (const plan::Stage& stage : plan.stages) {
    const LayerId any = stage.phases.front().layers.front();
    const std::size_t processor = mapping.processors[any.index].index;
    const double launch = problem.borders_of(processor).launch_ns;
    sums.emplace_back(stage.phases.size(), launch);
    launches.push_back(launch * static_cast<double>(stage.phases.size()));
  }
  const auto sum_at = [&](std::size_t layer) -> double& {
    return sums[places[layer].stage][places[layer].phase];
  };
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    const auto group = problem.fused_into[layer];
    const bool together = !group || places[*group] == places[layer];
    const std::size_t processor = mapping.processors[layer].index;
    const double time = together ? problem.time[layer][processor] : problem.alone[layer][processor];
    sum_at(layer) += time;
    if (time > 0) launches[places[layer].stage] += problem.borders_of(processor).kernel_ns;
  }
  for (const Problem::Edge& edge : problem.edges) {
    const ProcessorId from = mapping.processors[edge.from], to = mapping.processors[edge.to];
    if (from == to) continue;
    const auto elements = static_cast<double>(edge.elements);
    const Problem::Borders writer = problem.borders_of(from.index);
    const Problem::Borders reader = problem.borders_of(to.index);
    sum_at(edge.from) += writer.border_ns + writer.write_ns * elements;
    sum_at(edge.to) += reader.border_ns + reader.read_ns * elements;
    launches[places[edge.from].stage] += writer.border_ns;
    launches[places[edge.to].stage] += reader.border_ns;
  }
  add_feeding_of_phases(problem, plan, mapping, sums);
  return {std::move(sums), std::move(launches)};
}

/// What all replicas of a frame's stages have for their processors, where these have streams: by
/// the processor's name, its work for a frame.
std::map<std::string, double> works_of(const plan::Plan& plan, std::span<const Sums> sums) {
  std::map<std::string, double> works;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const plan::Stage& stage = plan.stages[s];
    for (std::size_t r = 0; r < stage.processors.size(); ++r) {
      const Sums& here = sums[sums.size() == 1 ? 0 : r];
      double work = -here.launches[s];
      for (const double time : here.times[s]) work += time;
      works[stage.processors[r].name] += work / static_cast<double>(stage.replicas());
    }
  }
  return works;
}

/// By how much a replica's time grows because it waits for others on its processor.
double slow_down(const plan::Stage& stage, std::span<const double> phases, double work) {
  double alone = 0;
  for (const double time : phases) alone += time;
  return alone > 0 ? std::max(1.0, static_cast<double>(stage.replicas()) * work / alone) : 1;
}

}  // namespace

plan::PhaseTimes phase_times(const Problem& problem, const plan::Plan& plan,
                             std::span<const plan::Mapping> by_replica) {
  std::vector<Sums> sums;
  for (const plan::Mapping& mapping : by_replica) sums.push_back(sums_of(problem, plan, mapping));
  const std::map<std::string, double> works = works_of(plan, sums);
  const std::set<std::string> shared = plan::shared_processors(plan);
  plan::PhaseTimes times;
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    for (std::size_t r = 0; r < plan.stages[s].processors.size(); ++r) {
      const std::string& processor = plan.stages[s].processors[r].name;
      const std::vector<double>& alone = sums[by_replica.size() == 1 ? 0 : r].times[s];
      const double slower =
          shared.contains(processor) ? slow_down(plan.stages[s], alone, works.at(processor)) : 1;
      std::vector<Time> phases;
      for (const double time : alone) phases.emplace_back(std::llround(slower * time));
      times.add(std::move(phases));
    }
  return times;
}

}  // namespace millrace::explore
