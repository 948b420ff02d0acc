#pragma once
// Which layers gain by working on several frames at once, and what they take then.
#include <vector>

#include "explore/mapping/problem.h"
#include "profile/batches.h"

namespace millrace::explore {

/// On how many frames each layer works at once, by LayerId.
using Batches = std::vector<std::int64_t>;

/// What the profile says of layers that gather frames.
class Batching {
 public:
  /// All borrowed. The board's processors must all be in the profile.
  Batching(const network::Network& network, const board::Board& board,
           const profile::Profile& profile);

  /// Ways for the network's last layers to gather up to `most` frames: the last fully connected
  /// ones (with all that stands between and around them), and before them as many of those from a
  /// convolution on as gain, on as many frames or fewer. Powers of two; those with more frames come
  /// later, and are there only if the lower bound of their time is below that of all before.
  std::vector<Batches> ways(std::int64_t most) const;

  /// The problem on one frame.
  const Problem& alone() const { return alone_; }

  /// The problem with what the layers take then, per frame, each in its best variant then. On a
  /// number of frames that was not measured, a layer takes what it takes on the next smaller one.
  Problem problem(const Batches& batches) const;

 private:
  const profile::BatchTime* on(std::size_t layer, std::size_t processor, std::int64_t frames) const;
  double share(std::size_t layer, std::size_t processor, std::int64_t frames) const;
  std::size_t first_convolution(std::int64_t frames) const;
  Batches way(std::int64_t convolutions, std::int64_t products) const;

  std::vector<const profile::ProcessorProfile*> measured_;  // by processor
  Problem alone_;                                           // on one frame
  profile::Tail tail_;
  std::vector<bool> gains_;  // by layer
};

}  // namespace millrace::explore
