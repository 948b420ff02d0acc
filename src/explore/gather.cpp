#include "explore/gather.h"

#include <algorithm>

#include "network/batch.h"
#include "profile/batches.h"

namespace millrace::explore {
namespace {

bool convolves(const network::Operator& op) {
  return std::holds_alternative<network::Conv>(op) ||
         std::holds_alternative<network::ConvTranspose>(op) ||
         std::holds_alternative<network::ConvInteger>(op) ||
         std::holds_alternative<network::QLinearConv>(op);
}

/// Per frame, with so many at once, in shares of the time of one alone.
double share_of(const std::vector<profile::BatchTime>& batches, std::int64_t frames) {
  const auto found =
      std::find_if(batches.begin(), batches.end(),
                   [&](const profile::BatchTime& batch) { return batch.frames == frames; });
  if (found == batches.end()) return 1;
  const double alone = seconds(batches.front().time);
  return seconds(found->time) / static_cast<double>(frames) / alone;
}

}  // namespace

std::vector<bool> layers_that_gather(const network::Network& network) {
  const std::size_t count = network.layers.size();
  std::vector<bool> result(count, false);
  const auto gains = [&](std::size_t i) { return profile::gains_by_batches(network, LayerId(i)); };
  const auto may = [&](std::size_t i) {
    return !convolves(network.layers[i].op) && network::can_batch(network, LayerId(i));
  };
  std::size_t last = count;
  while (last > 0 && !gains(last - 1)) --last;
  if (last == 0) return result;
  std::size_t first = last - 1, end = last;
  for (std::size_t i = first; i > 0 && may(i - 1); --i)
    if (gains(i - 1)) first = i - 1;
  while (end < count && may(end)) ++end;
  for (std::size_t i = first; i < end; ++i) result[i] = true;
  return result;
}

Problem with_batch(const Problem& problem, const profile::Profile& profile,
                   const board::Board& board, const Gathering& gathering) {
  Problem result = problem;
  for (std::size_t p = 0; p < board.processors.size(); ++p) {
    const profile::ProcessorProfile& measured = profile::of(profile, board.processors[p]);
    for (std::size_t i = 0; i < problem.layers; ++i) {
      if (!gathering.layers[i]) continue;
      const double share = share_of(measured.layers[i].batches, gathering.frames);
      result.time[i][p] *= share;
      result.alone[i][p] *= share;
    }
  }
  return result;
}

}  // namespace millrace::explore
