#pragma once
// Two networks of an application on the same processors: decision 136.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "explore/choose.h"

namespace millrace::explore {

/// Plans that run at the same time. Borrowed.
struct Pair {
  const plan::Plan& first;
  const plan::Plan& second;
};

/// A network and its times. Borrowed.
struct Timed {
  const network::Network& network;
  const profile::Profile& profile;
};

/// The network that runs `runs` times for each frame of the first one. Borrowed.
struct Companion {
  const network::Network& network;
  const profile::Profile& profile;
  std::int64_t runs = 1;
  /// Runs each pair, with the second plan `runs` times a frame, and says the time between two
  /// frames. Empty: the bounds decide.
  std::function<std::vector<Time>(std::span<const Pair>)> measure = {};
};

/// Both networks, one way to do it.
struct SharedCandidate {
  Candidate first, second;
  Time bound{};   // between two frames of the application, at the predicted times
  Time period{};  // measured; 0: it was not
};

/// What choose_together() found.
struct SharedChoice {
  std::vector<SharedCandidate> candidates;  // at least one
  std::vector<std::string> left_out;        // as Choice has them
  std::size_t best = 0;
  double lower_bound = 0;  // nanoseconds per frame of the application
};

/// One search places the layers of both networks, with the second one's times counted `runs`
/// times. It minimises what the busiest processor does for a frame. The smallest measured period
/// wins, else the smallest bound; of those within 1 % of it, the one with the fewest phases.
/// Batches, streams and a largest latency are no part of it. InputError as choose().
SharedChoice choose_together(const Timed& first, const Companion& companion,
                             const board::Board& board, const ChooseOptions& options);

/// Beside a plan of the first network that stands: the second one in one piece, where the busiest
/// processor then has the least to do for a frame. Measured if `companion` says how.
SharedChoice choose_beside(const Candidate& first, const board::Board& board,
                           const Companion& companion, const ChooseOptions& options);

/// The first network's part of it: for those who know one network only. The period of the second
/// one does not stand in it.
Choice choice_of_first(const SharedChoice& shared);

}  // namespace millrace::explore
