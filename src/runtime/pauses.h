#pragma once
// When a session was paused, as far back as its frames remember.
#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>

#include "base/units.h"

namespace millrace::runtime {

/// One thread begins and ends pauses, another asks.
class Pauses {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// Without effect while one lasts.
  void begin(Moment now) {
    const std::lock_guard lock(mutex_);
    if (!lasts()) pauses_.push_back({now, Moment::max()});
  }
  /// Without effect while none lasts.
  void end(Moment now) {
    const std::lock_guard lock(mutex_);
    if (lasts()) pauses_.back().end = now;
  }
  /// How much of this time was paused. Forgets what ended before: `from` never decreases.
  Time within(Moment from, Moment to) {
    const std::lock_guard lock(mutex_);
    while (!pauses_.empty() && pauses_.front().end <= from) pauses_.pop_front();
    Time sum{};
    for (const Pause& pause : pauses_)
      sum += std::max(Time{}, Time(std::min(pause.end, to) - std::max(pause.begin, from)));
    return sum;
  }

 private:
  struct Pause {
    Moment begin, end;
  };
  bool lasts() const { return !pauses_.empty() && pauses_.back().end == Moment::max(); }

  std::mutex mutex_;
  std::deque<Pause> pauses_;
};

}  // namespace millrace::runtime
