#include "runtime/statistics.h"

#include <algorithm>

namespace millrace::runtime {

std::vector<StageStatistics> statistics_of(const Pipeline& pipeline) {
  std::vector<StageStatistics> result;
  for (const auto& stage : pipeline.stages) {
    const Activity::Totals totals = stage->activity.totals();
    result.push_back({stage->name, totals.frames, totals.busy, totals.waiting, stage->memory,
                      stage->replicas, stage->processor.name});
  }
  return result;
}

std::vector<std::vector<CoreTimes>> core_times_of(const Pipeline& pipeline) {
  std::vector<std::vector<CoreTimes>> result;
  for (const auto& stage : pipeline.stages) {
    auto& times = result.emplace_back();
    for (const PhaseTimes& each : stage->core_times)
      times.push_back({each.runs, Time(each.sum_ns), Time(each.largest_ns)});
  }
  return result;
}

void forget_times(Pipeline& pipeline) {
  for (const auto& stage : pipeline.stages)
    for (PhaseTimes& each : stage->core_times) {
      each.runs = 0;
      each.sum_ns = 0;
      each.largest_ns = 0;
    }
}

std::int64_t preemptions_of(const Pipeline& pipeline) {
  std::int64_t sum = 0;
  for (const auto& stage : pipeline.stages) sum += stage->preemptions;
  return sum;
}

bool may_have_made_nan(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages,
                             [](const auto& stage) { return stage->invalid_frames.are_set(); });
}

bool may_have_made_nan(const Pipeline& pipeline, std::int64_t frame) {
  return std::ranges::any_of(pipeline.stages, [&](const auto& stage) {
    return stage->invalid_frames.include(frame);
  });
}

}  // namespace millrace::runtime
