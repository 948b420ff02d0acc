#include "explore/configuration/processing.h"

#include <algorithm>
#include <limits>

namespace millrace::explore {

int cores_of(const board::Board& board) {
  std::size_t cores = 0;
  for (const board::Device& device : board.devices)
    if (device.kind == board::ProcessorKind::cpu) cores += device.cores.size();
  return std::max(1, static_cast<int>(cores));
}

double most_with(const Processing& processing, const board::Board& board, const Score& score) {
  if (processing.each <= Time{}) return std::numeric_limits<double>::infinity();
  double busy = 0;  // cores, at the score's throughput
  for (std::size_t p = 0; p < board.processors.size(); ++p)
    if (board.processors[p].kind == board::ProcessorKind::cpu)
      busy += score.utilisation[p] * static_cast<double>(board.processors[p].cores.size());
  const double stages = score.throughput > 0 ? busy / score.throughput : 0;
  return processing.cores / (seconds(processing.each) + stages);
}

Objective with_processing(Objective objective, const board::Board& board,
                          const Processing& processing) {
  if (processing.each <= Time{}) return objective;
  return [objective = std::move(objective), &board,
          processing](std::span<const Configuration> configurations) {
    std::vector<Score> scores = objective(configurations);
    for (Score& score : scores) {
      const double most = most_with(processing, board, score);
      if (score.throughput <= most) continue;
      for (double& busy : score.utilisation) busy *= most / score.throughput;
      score.throughput = most;
    }
    return scores;
  };
}

}  // namespace millrace::explore
