#pragma once
// What an application does with each frame before and after the network.
#include "explore/configuration/configuration.h"

namespace millrace::explore {

/// Pre- and post-processing.
struct Processing {
  Time pre{}, post{};  // of a frame, on one of the cores; 0: none
  int cores = 1;       // that share it, and the stages that run on them
  Time reading{};      // of `pre`: what one thread at a time does
  /// A frame is processed, inferred and processed before the next one is begun: the thesis's
  /// baseline. Else they overlap.
  bool in_sequence = false;
  Time each() const { return pre + post; }
};

/// The cores of the board's CPUs, whether plans may use them or not. At least one.
int cores_of(const board::Board& board);

/// The frames per second that the threads allow, and reading.
double most_with(const Processing& processing, const Configuration& configuration);

/// The frames per second that the cores allow to a plan with this score: cores / (processing + what
/// its stages take of them for a frame). In sequence: 1 / (processing + time of a frame).
double most_with(const Processing& processing, const board::Board& board, const Score& score);

/// The same objective for an application: no candidate is faster than the cores allow, and its
/// threads. The board is borrowed.
Objective with_processing(Objective objective, const board::Board& board,
                          const Processing& processing);

}  // namespace millrace::explore
