#pragma once
// All numbers of a configuration that the maximiser and the fine-tuner of the thesis on JEDI
// change: threads of pre- and post-processing, streams of stages, slots.
#include <cstdint>
#include <optional>
#include <vector>

#include "explore/configuration/candidate_cache.h"
#include "explore/configuration/parameters.h"

namespace millrace::explore {

/// How large they may become. Left at 1 or 0, a number stays as it is.
struct TuningLimits {
  std::int64_t slots = 16;   // of a channel
  std::int64_t streams = 1;  // of a stage on one processor
  std::int64_t pre_threads = 0, post_threads = 0;
};

/// The slots first; then, as far as the limits and the board let them grow, the streams of each
/// stage and the threads.
Parameters parameters_of(const SearchContext& context, const Configuration& configuration,
                         const TuningLimits& limits);
Configuration with_parameters(Configuration configuration, const Parameters& parameters);

/// The maximiser: as large as helps.
Configuration maximised(CandidateCache& cache, Configuration configuration,
                        const TuningLimits& limits);

/// The fine-tuner. The slots are at least as many as each other number, unless that alone costs
/// more than the allowed loss; streams of two stages on one processor are divided in another way
/// where that helps.
Configuration fine_tuned(CandidateCache& cache, Configuration configuration,
                         const TuningLimits& limits, double allowed_loss);

/// The thesis's tuple to begin with: two streams on a device that takes whole subnets, else `most`,
/// which stages on one processor share; never more than the board allows. Empty: 1 for all.
std::vector<std::int64_t> first_streams(const SearchContext& context,
                                        const std::vector<ProcessorGroup>& stages,
                                        std::int64_t most);

}  // namespace millrace::explore
