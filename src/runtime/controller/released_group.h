#pragma once
// What the release thread does with a group.
#include <chrono>
#include <cstdint>

#include "base/units.h"
#include "runtime/actor.h"

namespace millrace::runtime {

struct ReleasedFrame {
  Clock::time_point due;
  Time deadline{};
  std::size_t operation = 0;  // in which it was released
  Clock::time_point released = {};  // set by the group
};

/// Its frames end on other threads.
class ReleasedGroup {
 public:
  virtual ~ReleasedGroup() = default;
  /// Frames that were released and are not done.
  virtual std::int64_t on_the_way() const = 0;
  /// Frames that were done after their deadlines.
  virtual std::int64_t missed() const = 0;
  /// What its frames took of processors beyond its budget, since it was last asked; 0 without one.
  virtual Time take_overrun() { return {}; }
  /// The release thread is woken when a frame is done.
  virtual void watch() = 0;
  /// Precondition: fewer frames are on their way than its deadline allows.
  virtual void release(const ReleasedFrame& frame) = 0;
  /// No more frames will come.
  virtual void finish() = 0;
};

}  // namespace millrace::runtime
