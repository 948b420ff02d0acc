#pragma once
// Which layers gain by working on several frames at once, and what they take then.
#include <vector>

#include "explore/problem.h"

namespace millrace::explore {

/// By LayerId: the last products with constant matrices (fully connected layers, whose time is
/// mostly that of reading their weights), with all that stands between and around them from the
/// first of them on. No convolutions, which gain little and whose results are large.
std::vector<bool> layers_that_gather(const network::Network& network);

/// These layers work on so many frames at once.
struct Gathering {
  std::vector<bool> layers;  // by LayerId
  std::int64_t frames = 1;
};

/// The problem with what these layers take then, per frame. Layers whose times in batches the
/// profile lacks take what they took.
Problem with_batch(const Problem& problem, const profile::Profile& profile,
                   const board::Board& board, const Gathering& gathering);

}  // namespace millrace::explore
