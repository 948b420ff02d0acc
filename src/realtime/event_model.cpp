#include "realtime/event_model.h"

#include <algorithm>

#include "realtime/checked.h"

namespace millrace::realtime {

Time EventModel::due_distance(std::int64_t count) const {
  const std::int64_t before = count - 1;
  return plus(times(period, before / burst), times(burst_distance, before % burst));
}

Time EventModel::distance(std::int64_t count) const {
  if (count <= 1) return Time{};
  return std::max({Time{}, due_distance(count) - jitter, times(min_distance, count - 1)});
}

std::int64_t EventModel::events_within(Time width) const {
  if (width <= Time{}) return 0;
  const Time due = plus(width, jitter);
  std::int64_t count = ceiling(due, period);
  if (burst > 1) {
    const Time rest = due - times(period, count - 1);
    const std::int64_t last =
        burst_distance > Time{} ? std::min(burst, ceiling(rest, burst_distance)) : burst;
    count = (count - 1) * burst + last;
  }
  if (min_distance > Time{}) count = std::min(count, ceiling(width, min_distance));
  return count;
}

}  // namespace millrace::realtime
