#include "event.h"

#include <chrono>

#include "status.h"

namespace emulated {
namespace {

constexpr unsigned untimed = 2;

int check_timed(const EventObject& event) {
  if (event.is_captured) return captured_event;
  const bool has_time = (event.flags & untimed) == 0 && event.nanoseconds != EventObject::never;
  return has_time ? success : invalid_handle;
}

}  // namespace

void record(EventObject& event) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  event.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  event.is_captured = false;
}

int milliseconds_between(float* milliseconds, const EventObject& begin, const EventObject& end) {
  if (const int status = check_timed(begin); status != success) return status;
  if (const int status = check_timed(end); status != success) return status;
  *milliseconds = static_cast<float>(end.nanoseconds - begin.nanoseconds) * 1e-6f;
  return success;
}

}  // namespace emulated
