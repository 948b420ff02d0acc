#pragma once
// Searches over mappings; each is a function from a problem to a mapping.
#include <cstdint>
#include <functional>
#include <string>

#include "base/operation/ranks.h"
#include "explore/mapping/problem.h"
#include "plan/build.h"

namespace millrace::explore {

struct SearchResult {
  plan::Mapping mapping;
  double fitness = 0;             // in nanoseconds
  double bottleneck = 0;          // the largest processor time
  std::string method;             // the search that found it
  int epochs = 0;                 // of the genetic search
  int moves = 0;                  // by improve(), behind the search
  bool is_one_processor = false;  // it was to be: the whole network on one of them
};

/// What a search minimises. Of the options for plans, those that PlanPeriod reads count.
struct Aim {
  Fitness fitness = Fitness::period;
  plan::BuildOptions build = {.engine = {}, .capacity = 3};
};

/// Fills in fitness and bottleneck of the result's mapping.
void rate(SearchResult& result, const Problem& problem, const Aim& aim = {});

/// Section 3.6 of the papers.
struct GeneticOptions {
  int population = 1000;
  int epochs = 500;
  double mutation = 0.05;   // the share of offspring of which one gene is mutated
  double crossover = 0.9;   // the share of offspring that have two parents
  double contiguous = 0.2;  // the share of the first generation that is cut into contiguous parts
                            // at random places; the others, and all of the papers', are random per
                            // layer, from where a large network is not put in order in 500 epochs
  int patience = 50;        // stop after this many epochs without improvement
  Aim aim = {};
  std::uint64_t seed = 1;
  Ranks* ranks = nullptr;  // who share each generation; borrowed; null: nobody
  std::function<void(int epoch, double best)> progress;  // may be empty
};

/// Step 2 of the papers: one gene per layer, two-parent crossover, single-gene mutation.
/// Fused layers follow the first of their group. The same seed gives the same result everywhere.
SearchResult genetic(const Problem& problem, const GeneticOptions& options = {});

/// The best partition of the layers, in topological order, into one contiguous part per processor
/// (parts may be empty), with the costs of the elements that cross: dynamic programming. Minimises
/// the bottleneck. Processors of different speed take the best order of all; where that would take
/// more than about a second (from about 9 different ones and 430 layers), the given order. What
/// feeding takes of cores is no part of the search: cores that feed devices get the part that suits
/// them best, or none, whichever is faster.
SearchResult exact_contiguous(const Problem& problem);

/// Goes on from a search's result: as long as it helps, puts the one range of layers onto the one
/// processor that helps most. Deterministic; the result is never worse.
/// For the period it follows the slowest stage, and stops before the period would become longer.
SearchResult improve(const Problem& problem, const SearchResult& found, const Aim& aim = {});

/// No mapping can have a smaller bottleneck: max(heaviest layer, total / processors), with each
/// layer on its best processor.
double lower_bound(const Problem& problem);

}  // namespace millrace::explore
