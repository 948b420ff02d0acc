#include "explore/configuration/predictor.h"

#include <algorithm>

namespace millrace::explore {
namespace {

/// Of a processor, the last phase of each processor that this one waits for; counted from 1.
using Waits = std::vector<std::size_t>;

}  // namespace

Predictor::Predictor(const Ground& ground)
    : ground_(ground), evaluator_(ground.problem), inputs_(ground.problem.layers) {
  for (const Problem::Edge& edge : ground.problem.edges) inputs_[edge.to].push_back(edge.from);
  const board::Board& board = ground.board;
  for (const board::Device& device : board.devices) {
    Limit together;
    for (std::size_t p = 0; p < board.processors.size(); ++p) {
      if (board::device_of(board, board.processors[p]) != &device) continue;
      together.processors.push_back(p);
      if (device.limits.subnets)
        limits_.push_back({{p}, static_cast<std::size_t>(*device.limits.subnets)});
    }
    if (!device.limits.subnets_together) continue;
    together.subnets = static_cast<std::size_t>(*device.limits.subnets_together);
    limits_.push_back(std::move(together));
  }
}

double Predictor::bottleneck(const Configuration& configuration) const {
  std::vector<double> times(evaluator_.processors());
  evaluator_.processor_times(genes_of(mapping_of(ground_, configuration)), times);
  for (const Seat& seat : configuration.stages)
    if (seat.size() > 1) times[seat.front().index] /= static_cast<double>(seat.size());
  return *std::max_element(times.begin(), times.end());
}

bool Predictor::may_fit(const Configuration& configuration) const {
  std::vector<std::size_t> subnets = subnets_of(mapping_of(ground_, configuration));
  for (const Seat& seat : configuration.stages) {
    const std::size_t pieces = subnets[seat.front().index];
    if (seat.size() > 1 && pieces > 1) return false;  // which cannot take turns
    for (const ProcessorId other : seat) subnets[other.index] = pieces;
  }
  return std::all_of(limits_.begin(), limits_.end(), [&](const Limit& limit) {
    std::size_t sum = 0;
    for (const std::size_t processor : limit.processors) sum += subnets[processor];
    return sum <= limit.subnets;
  });
}

/// The phases of each processor by the planner's rule, but for what a phase comes to wait for after
/// others wait for it.
std::vector<std::size_t> Predictor::subnets_of(const plan::Mapping& mapping) const {
  const std::size_t processors = evaluator_.processors();
  std::vector<std::vector<Waits>> phases(processors);  // by processor
  std::vector<std::size_t> phase_of(mapping.processors.size());
  for (std::size_t layer = 0; layer < phase_of.size(); ++layer) {
    const std::size_t here = mapping.processors[layer].index;
    Waits waits(processors, 0);
    for (const std::size_t input : inputs_[layer]) {
      const std::size_t there = mapping.processors[input].index;
      if (there == here) continue;
      const Waits& theirs = phases[there][phase_of[input] - 1];
      for (std::size_t p = 0; p < processors; ++p) waits[p] = std::max(waits[p], theirs[p]);
      waits[there] = std::max(waits[there], phase_of[input]);
    }
    if (phases[here].empty() || waits[here] >= phases[here].size())
      phases[here].push_back(phases[here].empty() ? Waits(processors, 0) : phases[here].back());
    Waits& open = phases[here].back();
    for (std::size_t p = 0; p < processors; ++p) open[p] = std::max(open[p], waits[p]);
    phase_of[layer] = phases[here].size();
    open[here] = std::max(open[here], phase_of[layer] - 1);
  }
  std::vector<std::size_t> counts;
  for (const auto& each : phases) counts.push_back(each.size());
  return counts;
}

}  // namespace millrace::explore
