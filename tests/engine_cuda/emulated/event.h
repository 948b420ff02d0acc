#pragma once
// Points in time, of the host's clock.
#include <atomic>
#include <cstdint>

struct EventObject {
  static constexpr std::int64_t never = -1;

  unsigned flags = 0;
  std::atomic<std::int64_t> nanoseconds{never};
  std::atomic<bool> is_captured{false};  // recorded last in a capture, and not by its graph
};

namespace emulated {

void record(EventObject& event);
int milliseconds_between(float* milliseconds, const EventObject& begin, const EventObject& end);

}  // namespace emulated
