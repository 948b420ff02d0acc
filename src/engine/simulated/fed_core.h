#pragma once
// A simulated core that also launches the work of devices.
#include <chrono>
#include <mutex>

#include "base/units.h"

namespace millrace::engine::simulated {

/// Launching comes first: what stages do on the core waits for it. Any thread.
class FedCore {
 public:
  using Clock = std::chrono::steady_clock;

  /// The core launches for so long, from now on, or after what it launches already.
  void feed(Time time, Clock::time_point now);

  /// A stage's work begins. All that was launched before and is done.
  Time begin(Clock::time_point now);
  /// What the core has launched since then, and what it had left to launch: the work is so much
  /// later.
  Time since(Time begun) const;
  void end();

 private:
  mutable std::mutex mutex_;
  Time launched_{};
  int working_ = 0;                // stages
  Clock::time_point idle_from_{};  // while none works: when all is launched
};

}  // namespace millrace::engine::simulated
