#include "schedule/arrivals.h"

#include <algorithm>
#include <cmath>

namespace millrace::schedule {

Time Arrivals::first(const realtime::EventModel& events, Time from) {
  events_ = events;
  in_burst_ = 0;
  due_ = from;
  if (is_aperiodic_) return comes_ = due_ += aperiodic_distance();
  return comes_ = due_ + drawn(events_.jitter);
}

Time Arrivals::next() {
  if (is_recorded()) return recorded_at(taken_++);
  if (is_aperiodic_) return comes_ = due_ += aperiodic_distance();
  const bool ends_burst = ++in_burst_ == events_.burst;
  if (ends_burst) {
    in_burst_ = 0;
    due_ += events_.period - events_.burst_distance * (events_.burst - 1);
    if (events_.sporadic) due_ += drawn(events_.period);
  } else {
    due_ += events_.burst_distance;
  }
  return comes_ = std::max(due_ + drawn(events_.jitter), comes_ + events_.min_distance);
}

Time Arrivals::next_after_wait(Time now) {
  due_ = comes_ = now;
  return next();
}

Time Arrivals::first_recorded(Time begin, Time from, std::int64_t& passed) {
  begin_ = begin;
  taken_ = std::min(taken_ - (taken_ > 0 ? 1 : 0), recorded_.size());
  for (; taken_ < recorded_.size() && begin_ + recorded_[taken_] < from; ++taken_) ++passed;
  return next();
}

Time Arrivals::recorded_at(std::size_t index) const {
  return index < recorded_.size() ? begin_ + recorded_[index] : Time::max();
}

Time Arrivals::aperiodic_distance() {
  return time_from_seconds(-std::log1p(-random_.unit()) * seconds(events_.period));
}

Time Arrivals::drawn(Time most) {
  if (most <= Time{}) return {};
  const auto values = static_cast<std::uint64_t>(most.count()) + 1;
  return Time(static_cast<std::int64_t>(random_.below(values)));
}

}  // namespace millrace::schedule
