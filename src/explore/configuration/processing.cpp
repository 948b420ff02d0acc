#include "explore/configuration/processing.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::explore {

int cores_of(const board::Board& board) {
  std::size_t cores = 0;
  for (const board::Device& device : board.devices)
    if (device.kind == board::ProcessorKind::cpu) cores += device.cores.size();
  return std::max(1, static_cast<int>(cores));
}

double most_with(const Processing& processing, const board::Board& board, const Score& score) {
  if (processing.each() <= Time{}) return std::numeric_limits<double>::infinity();
  if (processing.in_sequence)
    return score.throughput > 0 ? 1 / (seconds(processing.each()) + 1 / score.throughput) : 0;
  double busy = 0;  // cores, at the score's throughput
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (board.processors[p].kind == board::ProcessorKind::cpu)
      busy += score.utilisation[p] * static_cast<double>(board.processors[p].cores.size());
  const double stages = score.throughput > 0 ? busy / score.throughput : 0;
  return processing.cores / (seconds(processing.each()) + stages);
}

double most_with(const Processing& processing, const Configuration& configuration) {
  double most = std::numeric_limits<double>::infinity();
  if (processing.reading > Time{}) most = 1 / seconds(processing.reading);
  for (const auto& [time, threads] : {std::pair(processing.pre, configuration.pre_threads),
                                      std::pair(processing.post, configuration.post_threads)})
    if (time > Time{})
      most = std::min(
          most, static_cast<double>(threads > 0 ? threads : processing.cores) / seconds(time));
  return most;
}

Objective with_processing(Objective objective, const board::Board& board,
                          const Processing& processing) {
  if (processing.each() <= Time{}) return objective;
  return [objective = std::move(objective), &board,
          processing](std::span<const Configuration> configurations) {
    std::vector<Score> scores = objective(configurations);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      Score& score = scores[i];
      const double most =
          std::min(most_with(processing, board, score), most_with(processing, configurations[i]));
      if (score.throughput <= most) continue;
      for (double& busy : score.utilisation) busy *= most / score.throughput;
      score.throughput = most;
    }
    return scores;
  };
}

}  // namespace millrace::explore
