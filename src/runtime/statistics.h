#pragma once
// What the stages of a pipeline did so far.
#include <cstdint>
#include <vector>

#include "runtime/pipeline.h"

namespace millrace::runtime {

/// As Session tells them.
std::vector<StageStatistics> statistics_of(const Pipeline& pipeline);
std::vector<std::vector<CoreTimes>> core_times_of(const Pipeline& pipeline);
void forget_times(Pipeline& pipeline);
std::int64_t preemptions_of(const Pipeline& pipeline);
bool may_have_made_nan(const Pipeline& pipeline, std::int64_t frame);
bool may_have_made_nan(const Pipeline& pipeline);

}  // namespace millrace::runtime
