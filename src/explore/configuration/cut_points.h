#pragma once
// The pipeline cut-point explorer of the thesis on JEDI (Algorithms 2 and 3) for one mapping
// option.
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/configuration/candidate_cache.h"

namespace millrace::explore {

struct CutPointOptions {
  double threshold = 0.7;  // T: from this utilisation of the last stage's processor on, cuts move
                           // freely; below it, so that it gets more to do
  std::size_t top = 10;    // K: so many of the best tuples are gone on from
  bool local = true;       // else the global search only
  std::size_t every = 3;   // of the cut positions, one of so many is sampled for the global search
  std::int64_t slots = 2;  // of the configurations
  std::int64_t streams = 1;  // of a stage to begin with, at most: see first_streams()
  std::optional<std::uint64_t> random_start = {};  // seed; nothing: balanced by the profile
  std::size_t starts = 3;                          // balanced tuples that are far from each other
  std::vector<std::size_t> start = {};  // cuts found before to begin with; empty: as above
};

/// With the streams to begin with, and the slots.
Configuration with_usual(const SearchContext& context, Configuration configuration,
                         const CutPointOptions& options);

/// The tuples to begin with; none if none of the option was found feasible.
std::vector<Configuration> first_tuples(CandidateCache& cache, const MappingOption& option,
                                        const CutPointOptions& options);

/// Global search (Algorithm 2) over sampled cut positions, from the first cuts on: of the best K
/// tuples, the best that was not gone on from yet is; each policy moves it on as long as that
/// helps. A tuple that comes among the best K is handed to the local search. Ends when nothing new
/// is among the best K, or the cache is spent. What it found is in the cache. The number of
/// tuples that were handed to the local search.
std::size_t explore_cut_points(CandidateCache& cache, const MappingOption& option,
                               const CutPointOptions& options);

/// Local search (Algorithm 3): where the first stage shares its processor with the last, one stream
/// for the first and the others for the last, if that helps; then single cuts, over all positions,
/// one by one, as long as it helps.
void refine_cut_points(CandidateCache& cache, const Configuration& from);

}  // namespace millrace::explore
