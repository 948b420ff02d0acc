#pragma once
// Threads that call functions of others, which may never return.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"

namespace millrace::runtime {

/// What a thread tells the one that waits for it. Shared by the two.
class AtWork {
 public:
  /// Its thread is about to call such a function. `what`: lives as long as the thread.
  void begin(const std::string& what) {
    what_ = &what;
    began_ns_ = now_ns();
  }
  void end() { began_ns_ = 0; }

  // Any thread.
  /// For how long it has been in the function; 0: it is in none.
  Time lasts() const {
    const std::int64_t began = began_ns_;
    return began == 0 ? Time{} : Time(now_ns() - began);
  }
  const std::string& what() const { return *what_; }

 private:
  static std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }

  std::atomic<const std::string*> what_{nullptr};
  std::atomic<std::int64_t> began_ns_{0};
};

struct WatchedWork {
  /// Owns all that it touches, since its thread may outlive everything else. Throws nothing.
  std::function<void()> run;
  std::shared_ptr<AtWork> at_work;  // shared with `run`
};

struct Watchdog {
  Time patience;                       // for a function of others
  std::function<void()> stop;          // asks all threads to end soon
  std::function<void()> between = {};  // called by the caller's thread now and then; may throw
};

/// Runs each on a thread of its own, until all have ended. One that is in a function for longer
/// than the patience is left alone, which ends the others: EngineError, with what it was. If
/// `between` throws, or a thread cannot be started, the threads are asked to end, and it is passed
/// on.
void run_watched(const std::vector<WatchedWork>& works, const Watchdog& watchdog);

}  // namespace millrace::runtime
