#pragma once
// Frames for a group of tasks alone.
#include <chrono>

#include "runtime/controller/group_runner.h"

namespace millrace::test {

/// Releases so many frames, each as soon as there is room, and ends the group.
inline void run(runtime::GroupRunner& runner, runtime::ControllerSignals& signals,
                std::int64_t frames) {
  constexpr Time second = std::chrono::seconds(1);
  using runtime::Clock;
  runner.start();
  for (std::int64_t f = 0; f < frames && !signals.failed; ++f) {
    while (runner.is_busy() && !signals.failed) {
      const auto ticket = signals.releaser.ticket();
      runner.watch();
      if (runner.is_busy() && !signals.failed)
        signals.releaser.sleep_before(ticket, Clock::now() + second);
    }
    if (!signals.failed) runner.release({Clock::now(), second, 0});
  }
  runner.finish();
  runner.join();
}

}  // namespace millrace::test
