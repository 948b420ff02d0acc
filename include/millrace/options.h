#pragma once
// What every request has: who listens, who may cancel, and which engines' libraries are used.
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace millrace {
inline namespace v1 {

using Duration = std::chrono::nanoseconds;

/// Hears of the work of a call. Called by one thread at a time, not always the caller's. What it
/// throws ends the call and is passed on, unless a note of a running session threw it.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Something a person should know, a sentence: a fallback, an unstable measurement.
  virtual void note(const std::string& /*text*/) {}
  /// `task` is under way; `share` of it, 0 to 1, is done; text such as the best so far.
  virtual void progress(const std::string& /*task*/, double /*share*/,
                        const std::string& /*text*/) {}
  /// Asked again and again by whoever works or waits, several threads at once: true ends that call,
  /// and leaves a session as it is.
  virtual bool wants_to_end() { return false; }
};

/// Ends calls early: they throw an Error of kind cancelled. Copies are one token; any thread may
/// call any function, and cancel() may stand in a signal handler.
class CancelToken {
 public:
  CancelToken();
  void cancel() noexcept { cancelled_->store(true); }
  bool is_cancelled() const noexcept { return cancelled_->load(); }

 private:
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

struct Options {
  std::shared_ptr<Listener> listener;  // null: nobody
  CancelToken cancel;
  /// Whether measured profiles and packed weights are kept in, and read from, the user's cache
  /// folder ($XDG_CACHE_HOME/millrace).
  bool cache = true;
  std::map<std::string, std::string> engine_libraries;  // by engine: a file
  std::map<std::string, std::map<std::string, std::string>> engine_settings;  // by engine
};

}  // namespace v1
}  // namespace millrace
