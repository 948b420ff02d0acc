#pragma once
// A genetic search with lexicase selection (Helmuth, Spector and Matheson 2015), over rows of whole
// numbers: J. Kim's thesis uses it in chapter 4.
#include <functional>
#include <vector>

#include "explore/evolution/genome.h"

namespace millrace::explore {

struct LexicaseOptions {
  std::size_t population = 128;
  std::size_t generations = 10'000;
  std::size_t patience = 0;  // ends after so many generations without anything better; 0: never
  std::uint64_t seed = 1;
  std::vector<Genome> start = {};  // of the first population; the rest is random
  std::function<bool(std::size_t generation)> stop = {};  // asked before each one; empty: never
};

struct LexicaseResult {
  std::vector<Genome> population;  // different ones
  std::size_t generations = 0, evaluated = 0;
};

/// Each generation has two children of each survivor (uniform crossover with another one, then one
/// gene changed, and another one with probability 1/2, and so on); survivors are selected of all,
/// each by its own order of the cases. The best by the sum of the cases always survives. Each
/// genome's cases are asked for once, those of a generation at once.
LexicaseResult lexicase_search(const Genome& sizes, const GenomeCases& cases,
                               const LexicaseOptions& options);

}  // namespace millrace::explore
