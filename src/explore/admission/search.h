#pragma once
// Inside the folder: branch and bound over choices. Bounds are Lagrangian: each unit has a price,
// and each task takes what is cheapest.
#include <chrono>
#include <optional>

#include "explore/admission/proof.h"

namespace millrace::explore {

struct SearchLimits {
  std::chrono::steady_clock::time_point until;
  std::size_t steps = 4'000'000;  // of the proof, which is kept in memory
};

struct ChoiceSearch {
  AdmissionChoice best = {};  // empty: none that fits was found
  double cost = 0;            // of the best
  double bound = 0;           // no choice costs less
  double relaxed = 0;         // nor less than this, which was known before any branch
  bool complete = false;      // the proof says that nothing is better than the best
  AdmissionProof proof = {};
};

/// Smaller differences between costs are taken for rounding.
double least_difference(double cost);

/// `known` fits. Without it the goal is `any`: the search ends with the first choice that fits.
ChoiceSearch search_choices(const AdmissionProblem& problem, const AdmissionOptions& options,
                            const std::optional<AdmissionChoice>& known,
                            const SearchLimits& limits);

}  // namespace millrace::explore
