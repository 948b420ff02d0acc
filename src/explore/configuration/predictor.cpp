#include "explore/configuration/predictor.h"

#include <algorithm>

#include "plan/phase_rule.h"

namespace millrace::explore {

Predictor::Predictor(const SearchContext& context)
    : context_(context), evaluator_(context.problem), inputs_(context.problem.layers) {
  for (const Problem::Edge& edge : context.problem.edges) inputs_[edge.to].push_back(edge.from);
  const board::Board& board = context.board;
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

/// If stages on one processor have different numbers of streams, the largest number counts.
const Evaluator& Predictor::evaluator_for(const Configuration& configuration) const {
  if (configuration.streams.empty()) return evaluator_;
  std::vector<std::int64_t> streams(evaluator_.processors(), 1);
  for (std::size_t s = 0; s < configuration.stages.size(); ++s)
    for (const ProcessorId processor : configuration.stages[s])
      streams[processor.index] = std::max(streams[processor.index], configuration.streams[s]);
  const auto known = paced_.find(streams);
  if (known != paced_.end()) return known->second;
  return paced_.emplace(streams, Evaluator(paced(context_.problem, streams))).first->second;
}

double Predictor::bottleneck(const Configuration& configuration) const {
  const Evaluator& evaluator = evaluator_for(configuration);
  std::vector<double> times(evaluator.resources());
  evaluator.processor_times(genes_of(mapping_of(context_, configuration)), times);
  for (const ProcessorGroup& group : configuration.stages)
    if (group.size() > 1) times[group.front().index] /= static_cast<double>(group.size());
  return *std::max_element(times.begin(), times.end());
}

bool Predictor::may_fit(const Configuration& configuration) const {
  std::vector<std::size_t> subnets = subnets_of(mapping_of(context_, configuration));
  for (const ProcessorGroup& group : configuration.stages) {
    const std::size_t pieces = subnets[group.front().index];
    for (const ProcessorId other : group) subnets[other.index] = pieces;
  }
  return std::all_of(limits_.begin(), limits_.end(), [&](const Limit& limit) {
    std::size_t sum = 0;
    for (const std::size_t processor : limit.processors) sum += subnets[processor];
    return sum <= limit.subnets;
  });
}

/// How many phases each processor has.
std::vector<std::size_t> Predictor::subnets_of(const plan::Mapping& mapping) const {
  plan::PhaseRule rule(evaluator_.processors());
  for (std::size_t layer = 0; layer < inputs_.size(); ++layer)
    rule.add({mapping.processors[layer].index}, inputs_[layer]);
  std::vector<std::size_t> counts;
  for (std::size_t p = 0; p < evaluator_.processors(); ++p) counts.push_back(rule.phases(p));
  return counts;
}

}  // namespace millrace::explore
