#pragma once
// Inside the folder: why no choice is better, in steps that a second program replays.
#include <chrono>
#include <cstdint>
#include <vector>

#include "explore/admission/goal.h"

namespace millrace::explore {

/// A task gets each processor that it may still have, one after the other, until the tasks without
/// a processor, together with what is placed, need more than there is.
struct ProofStep {
  static constexpr std::int32_t closed = -1, complete = -2;
  std::int32_t processor = -1;  // of the task of the step above; -1: the first step
  std::int32_t task = closed;   // the steps that follow give it each processor; or one of the above
  std::int32_t reason = 0;      // of a closed step: which of the multipliers
};

struct AdmissionProof {
  std::vector<ProofStep> steps;
  /// By unit, not below 0. Whatever the tasks choose, the units' loads times these are at least the
  /// sum of each task's least one. Whole numbers where the goal is no sum.
  std::vector<std::vector<double>> multipliers;
};

/// No choice that fits costs less than `least`; of the goal `any`, nothing fits.
struct AdmissionClaim {
  const AdmissionProblem& problem;
  const AdmissionOptions& options;
  double least = 0;
};

/// Whether the proof has a step for each choice, and each holds: loads in whole numbers, costs that
/// are sums to a billionth. False also if there was not time enough.
bool replay(const AdmissionProof& proof, const AdmissionClaim& claim,
            std::chrono::steady_clock::time_point until);

}  // namespace millrace::explore
