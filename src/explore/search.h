#pragma once
// Searches over mappings; each is a function from a problem to a mapping.
#include <cstdint>
#include <functional>

#include "explore/problem.h"

namespace millrace::explore {

struct SearchResult {
  plan::Mapping mapping;
  double fitness = 0;     // in nanoseconds
  double bottleneck = 0;  // the largest processor time
  int epochs = 0;         // of the genetic search
};

/// Section 3.6 of the papers.
struct GeneticOptions {
  int population = 1000;
  int epochs = 500;
  double mutation = 0.05;  // the share of offspring of which one gene is mutated
  double crossover = 0.9;
  int patience = 50;       // stop after this many epochs without improvement
  Fitness fitness = Fitness::bottleneck;
  std::uint64_t seed = 1;
  std::function<void(int epoch, double best)> progress;  // may be empty
};

/// Step 2 of the papers: one gene per layer, two-parent crossover, single-gene mutation, on pagmo.
SearchResult genetic(const Problem& problem, const GeneticOptions& options = {});

/// The best partition of the layers, in topological order, into one contiguous part per processor
/// (parts may be empty), in the given order of processors, with the costs of the elements that
/// cross: dynamic programming. Minimises the bottleneck.
SearchResult exact_contiguous(const Problem& problem);

/// No mapping can have a smaller bottleneck: max(heaviest layer, total / processors), with each
/// layer on its best processor.
double lower_bound(const Problem& problem);

}  // namespace millrace::explore
