#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
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

/// What crosses the borders of stages, and who copies it: the phases at both ends, or transfers.
class Crossings {
 public:
  Crossings(const Problem& problem, const plan::Plan& plan, const plan::Mapping& mapping,
            Sums& sums)
      : problem_(problem),
        plan_(plan),
        mapping_(mapping),
        sums_(sums),
        places_(plan::places_of_layers(plan)) {}

  void add() {
    for (const Problem::Edge& edge : problem_.edges) add_edge(edge);
    for (const Problem::End& end : problem_.ends) add_end(end);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      for (std::size_t p = 0; p < plan_.stages[s].phases.size(); ++p)
        if (const auto& transfer = plan_.stages[s].phases[p].transfer)
          sums_.times[s][p] += time_of(*transfer);
  }

 private:
  const std::string& space_at(std::size_t layer) const {
    return plan_.stages[places_[layer].stage].space;
  }

  void add_edge(const Problem::Edge& edge) {
    const ProcessorId from = mapping_.processors[edge.from], to = mapping_.processors[edge.to];
    if (from == to) return;
    const auto elements = static_cast<double>(edge.elements);
    const Problem::Borders writer = problem_.borders_of(from.index);
    const Problem::Borders reader = problem_.borders_of(to.index);
    if (space_at(edge.from).empty())
      add_out(edge.from, writer.border_ns + writer.write_ns * elements, writer.border_ns);
    if (space_at(edge.to).empty())
      add_in(edge.to, reader.border_ns + reader.read_ns * elements, reader.border_ns);
  }

  /// Layers have the time of ends in theirs, unless copy engines might do that.
  void add_end(const Problem::End& end) {
    const std::size_t processor = mapping_.processors[end.layer].index;
    const Problem::Borders costs = problem_.borders_of(processor);
    const double in_layer = problem_.time_of(end, processor);
    const double here =
        space_at(end.layer).empty() ? problem_.transfer_time_of(end, processor) : 0;
    add_time(end.layer, here - in_layer);
    (end.is_input ? border_at(end.layer).in : border_at(end.layer).out) += here;
    if (costs.of_ends && here > 0) sums_.launches[places_[end.layer].stage] += costs.border_ns;
  }

  void add_in(std::size_t layer, double time, double launch) {
    add_time(layer, time);
    border_at(layer).in += time;
    sums_.launches[places_[layer].stage] += launch;
  }
  void add_out(std::size_t layer, double time, double launch) {
    add_time(layer, time);
    border_at(layer).out += time;
    sums_.launches[places_[layer].stage] += launch;
  }
  BorderSums& border_at(std::size_t layer) {
    return sums_.borders[places_[layer].stage][places_[layer].phase];
  }
  void add_time(std::size_t layer, double time) {
    sums_.times[places_[layer].stage][places_[layer].phase] += time;
  }

  double time_of(const plan::Transfer& transfer) const {
    const bool goes_in = !transfer.to.empty();
    const std::string& space = goes_in ? transfer.to : transfer.from;
    for (std::size_t p = 0; p < problem_.processors; ++p) {
      const Problem::Borders costs = problem_.borders_of(p);
      if (costs.space == space)
        return costs.border_ns + elements_of(transfer.tensor) *
                                     (goes_in ? costs.read_ns : costs.write_ns);
    }
    return 0;
  }
  double elements_of(TensorId tensor) const {
    for (const Problem::Edge& edge : problem_.edges)
      if (edge.slot.tensor == tensor.index) return static_cast<double>(edge.elements);
    for (const Problem::End& end : problem_.ends)
      if (end.slot.tensor == tensor.index) return static_cast<double>(end.elements);
    return 0;
  }

  const Problem& problem_;
  const plan::Plan& plan_;
  const plan::Mapping& mapping_;
  Sums& sums_;
  std::vector<plan::Endpoint> places_;
};

/// The processor of the stage's layers; nothing: it only copies.
std::optional<std::size_t> processor_of(const plan::Stage& stage, const plan::Mapping& mapping) {
  for (const plan::Phase& phase : stage.phases)
    if (!phase.layers.empty()) return mapping.processors[phase.layers.front().index].index;
  return std::nullopt;
}

Sums sums_of(const Problem& problem, const plan::Plan& plan, const plan::Mapping& mapping) {
  const std::vector<plan::Endpoint> places = plan::places_of_layers(plan);
  Sums sums;
  for (const plan::Stage& stage : plan.stages) {
    const auto processor = processor_of(stage, mapping);
    const double launch = processor ? problem.borders_of(*processor).launch_ns : 0;
    double launches = 0;
    auto& times = sums.times.emplace_back();
    for (const plan::Phase& phase : stage.phases)
      launches += times.emplace_back(phase.transfer ? 0 : launch);
    sums.borders.emplace_back(stage.phases.size());
    sums.launches.push_back(launches);
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
  Crossings(problem, plan, mapping, sums).add();
  return sums;
}

/// A replica of a stage: what it does for a frame of its own, in nanoseconds.
struct Work {
  static constexpr std::size_t copy_engine = static_cast<std::size_t>(-1);
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
    for (std::size_t r = 0; r < plan.stages[s].processors.size(); ++r) {
      const std::size_t turn = by_replica.size() == 1 ? 0 : r;
      works.push_back({processor_of(plan.stages[s], by_replica[turn]).value_or(Work::copy_engine),
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
    if (work.processor == Work::copy_engine) continue;
    times[work.processor] += work.share * work.time();
    shares[work.processor] += work.share;
  }
  const std::vector<double> before = times;
  const auto feeders = add_feeding(times, borders);
  for (Work& work : works) {
    const std::size_t p = work.processor;
    if (p == Work::copy_engine) continue;
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
