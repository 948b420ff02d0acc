#pragma once
// Whole networks on several processors at once, each on another frame: the baseline of pipelines.
#include <vector>

#include "explore/configuration/candidate_cache.h"

namespace millrace::explore {

/// All layers on one processor, or on several that share frames.
Configuration whole(const ProcessorGroup& group, const CandidateCache& cache);

/// The fastest processor alone, the fastest two, three and so on. Where all of them run all layers,
/// the next frame is for whoever is free. Where some do not, such layers stay on one processor for
/// all frames, and the others' frames go round in proportions that suit the processors, by the
/// profile: then there are several.
std::vector<Configuration> interleavings(const CandidateCache& cache);

}  // namespace millrace::explore
