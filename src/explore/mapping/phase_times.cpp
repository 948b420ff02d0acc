#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "explore/mapping/problem.h"
#include "plan/steps.h"

namespace millrace::explore {
namespace {

/// What of a phase's time its borders take, in nanoseconds.
struct BorderSums {
  double in = 0, out = 0;
};

/// In nanoseconds, by stage and phase; of stages, what is no work of the processor.
struct Sums {
  std::vector<std::vector<double>> times;
  std::vector<std::vector<BorderSums>> borders;
  std::vector<double> launches;
};

/// Sums up what crosses the borders of stages.
void add_borders(const Problem& problem, const plan::Plan& plan, const plan::Mapping& mapping,
                 Sums& sums) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  const auto border_at = [&](std::size_t layer) -> BorderSums& {
    return sums.borders[places[layer].stage][places[layer].phase];
  };
  const auto add_time = [&](std::size_t layer, double time) {
    sums.times[places[layer].stage][places[layer].phase] += time;
  };
  for (const Problem::Edge& edge : problem.edges) {
    const ProcessorId from = mapping.processors[edge.from], to = mapping.processors[edge.to];
    if (from == to) continue;
    const auto elements = static_cast<double>(edge.elements);
    const Problem::Borders writer = problem.borders_of(from.index);
    const Problem::Borders reader = problem.borders_of(to.index);
    const double out = writer.border_ns + writer.write_ns * elements;
    const double in = reader.border_ns + reader.read_ns * elements;
    add_time(edge.from, out);
    add_time(edge.to, in);
    border_at(edge.from).out += out;
    border_at(edge.to).in += in;
    sums.launches[places[edge.from].stage] += writer.border_ns;
    sums.launches[places[edge.to].stage] += reader.border_ns;
  }
  for (const Problem::End& end : problem.ends) {  // the layers' times have these
    const std::size_t processor = mapping.processors[end.layer].index;
    BorderSums& border = border_at(end.layer);
    (end.is_input ? border.in : border.out) += problem.time_of(end, processor);
    const Problem::Borders costs = problem.borders_of(processor);
    if (costs.of_ends) sums.launches[places[end.layer].stage] += costs.border_ns;
  }
}

Sums sums_of(const Problem& problem, const plan::Plan& plan, const plan::Mapping& mapping) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  Sums sums;
  for (const plan::Stage& stage : plan.stages) {
    const LayerId any = stage.phases.front().layers.front();
    const std::size_t processor = mapping.processors[any.index].index;
    const double launch = problem.borders_of(processor).launch_ns;
    sums.times.emplace_back(stage.phases.size(), launch);
    sums.borders.emplace_back(stage.phases.size());
    sums.launches.push_back(launch * static_cast<double>(stage.phases.size()));
  }
  for (std::size_t layer = 0; layer < problem.layers; ++layer) {
    const auto group = problem.fused_into[layer];
    const bool together = !group || places[*group] == places[layer];
    const std::size_t processor = mapping.processors[layer].index;
    const double time = together ? problem.time[layer][processor] : problem.alone[layer][processor];
    sums.times[places[layer].stage][places[layer].phase] += time;
    if (time > problem.time_of_ends(layer, processor))
      sums.launches[places[layer].stage] += problem.borders_of(processor).kernel_ns;
  }
  add_borders(problem, plan, mapping, sums);
  return sums;
}

/// A replica of a stage: what it does for a frame of its own, in nanoseconds.
struct Work {
  std::size_t processor = 0;
  double share = 1;  // of all frames
  std::vector<double> phases;
  std::vector<BorderSums> borders;
  double launches = 0;
  double feeding = 0;       // of the last phase; of a device, what launching takes of its feeder
  std::string feeder = {};  // of a device

  double time() const { return std::accumulate(phases.begin(), phases.end(), 0.0); }
};

std::vector<Work> works_of(const Problem& problem, const plan::Plan& plan,
                           std::span<const plan::Mapping> by_replica) {
  std::vector<Sums> sums;
  for (const plan::Mapping& mapping : by_replica) sums.push_back(sums_of(problem, plan, mapping));
  std::vector<Work> works;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const LayerId any = plan.stages[s].phases.front().layers.front();
    for (std::size_t r = 0; r < plan.stages[s].processors.size(); ++r) {
      const std::size_t turn = by_replica.size() == 1 ? 0 : r;
      works.push_back({by_replica[turn].processors[any.index].index,
                       1 / static_cast<double>(plan.stages[s].replicas()), sums[turn].times[s],
                       sums[turn].borders[s], sums[turn].launches[s]});
    }
  }
  return works;
}

/// The actors on a core that feeds devices do that after their last phases. A core without any has
/// time for it.
void add_feeding_of_phases(const Problem& problem, std::vector<Work>& works) {
  std::vector<Problem::Borders> borders;
  for (std::size_t p = 0; p < problem.processors; ++p) borders.push_back(problem.borders_of(p));
  if (std::ranges::none_of(borders, [](const auto& each) { return each.feeding > 0; })) return;
  std::vector<double> times(problem.processors, 0), shares(problem.processors, 0);
  for (const Work& work : works) {
    times[work.processor] += work.share * work.time();
    shares[work.processor] += work.share;
  }
  const std::vector<double> before = times;
  const auto feeders = add_feeding(times, borders);
  for (Work& work : works) {
    const std::size_t p = work.processor;
    if (feeders[p]) {
      work.feeding = borders[p].feeding * work.time();
      work.feeder = problem.names.empty() ? "" : problem.names[*feeders[p]];
    } else if (times[p] > before[p]) {
      work.feeding = (times[p] - before[p]) / shares[p];
      work.phases.back() += work.feeding;
    }
  }
}

/// Replicas on a processor that has several actors also wait for what it does for the others.
void add_waiting(const plan::Plan& plan, std::vector<Work>& works) {
  const std::set<std::string> shared = plan::shared_processors(plan);
  std::map<std::size_t, double> busy;  // by processor, in a frame
  for (const Work& work : works) busy[work.processor] += work.share * (work.time() - work.launches);
  auto work = works.begin();
  for (const plan::Stage& stage : plan.stages)
    for (const board::Processor& processor : stage.processors) {
      const double alone = work->time();
      const double slower = shared.contains(processor.name) && alone > 0
                                ? std::max(1.0, busy[work->processor] / work->share / alone)
                                : 1;
      for (double& phase : work->phases) phase *= slower;
      if (work->feeder.empty()) work->feeding *= slower;
      ++work;
    }
}

Time nearest(double nanoseconds) { return Time(std::llround(nanoseconds)); }

/// Within the phase's time, which a batch may have made shorter. Empty if there are none.
std::vector<plan::BorderTimes> border_times_of(const Work& work) {
  std::vector<plan::BorderTimes> times;
  bool any = false;
  for (std::size_t p = 0; p < work.borders.size(); ++p) {
    const Time phase = nearest(work.phases[p]);
    const Time in = std::min(nearest(work.borders[p].in), phase);
    times.push_back({in, std::min(nearest(work.borders[p].out), phase - in)});
    any |= times.back() != plan::BorderTimes{};
  }
  return any ? times : std::vector<plan::BorderTimes>();
}

}  // namespace

plan::Evidence predicted(const Problem& problem, const plan::Plan& plan,
                         std::span<const plan::Mapping> by_replica) {
  std::vector<Work> works = works_of(problem, plan, by_replica);
  add_feeding_of_phases(problem, works);
  add_waiting(plan, works);
  plan::PhaseTimes times;
  for (const Work& work : works) {
    std::vector<Time> phases;
    for (const double phase : work.phases) phases.push_back(nearest(phase));
    times.add(std::move(phases));
  }
  plan::Evidence evidence = plan::predicted(times);
  for (std::size_t a = 0; a < works.size(); ++a) {
    evidence.replicas[a].feeding = {nearest(works[a].feeding), works[a].feeder};
    evidence.replicas[a].borders = border_times_of(works[a]);
  }
  return evidence;
}

plan::PhaseTimes phase_times(const Problem& problem, const plan::Plan& plan,
                             std::span<const plan::Mapping> by_replica) {
  plan::PhaseTimes times;
  for (const plan::ReplicaEvidence& replica : predicted(problem, plan, by_replica).replicas) {
    std::vector<Time> phases;
    for (const std::optional<Time>& phase : replica.phases) phases.push_back(*phase);
    times.add(std::move(phases));
  }
  return times;
}

}  // namespace millrace::explore
