#pragma once
// Calls that take long: Ctrl-C ends them within a second, and Python hears of their progress.
#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/options.h"

namespace millrace::python {

namespace nb = nanobind;

/// What the library says, until the calling thread passes it on.
class Heard final : public Listener {
 public:
  void note(const std::string& text) override;
  void progress(const std::string& task, double share, const std::string& text) override;
  bool wants_to_end() override { return ended_; }
  void end() { ended_ = true; }
  /// Calls listener.note(text) and listener.progress(task, share, text). With the GIL.
  void pass_on(nb::handle listener);

 private:
  struct Moment {
    std::string task, text;
    double share = 0;
  };
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
  std::optional<Moment> latest_;
};

/// For waits of the calling thread, which has let go of the GIL: asks Python for signals. The error
/// that a handler raised stays set.
class AsksForSignals final : public Listener {
 public:
  bool wants_to_end() override;
};

/// While one lives, waits of this thread that ask for signals end after so many seconds, with
/// TimeoutError.
class WaitsFor {
 public:
  explicit WaitsFor(std::optional<double> seconds);
  ~WaitsFor();
  WaitsFor(const WaitsFor&) = delete;
  WaitsFor& operator=(const WaitsFor&) = delete;
};

/// The process that threads belong to: a child of fork() has none of its parent's.
class OwnProcess {
 public:
  bool is_here() const { return fork_ == forks(); }
  /// Error with the place, where the child must start its own.
  void check(const char* place, const char* remedy) const;

 private:
  static int forks();
  int fork_ = forks();
};

/// What has threads of its own. In a child of fork() it is left alone instead of ended: nobody
/// there can wait for its threads. `stop`: what else ends it; other threads may hold copies.
template <class Held, class Stop>
void end_or_leave(std::optional<Held>& held, const OwnProcess& process, const Stop& stop) {
  if (!held) return;
  std::optional<Held> ending = std::exchange(held, std::nullopt);
  if (!process.is_here()) {
    new Held(std::move(*ending));
    return;
  }
  const nb::gil_scoped_release released;
  stop(*ending);
  ending.reset();
}

/// Runs the work on a thread of its own, without the GIL, and waits for it; `listener`: an object
/// with note() and progress(), or None. What a signal handler or the listener raises ends the work.
void run_interruptibly(nb::handle listener, Options& options, const std::function<void()>& work);

/// What the work gives.
template <class Request, class Work>
auto worked(nb::handle listener, Request& request, Work&& work) {
  std::optional<decltype(work())> result;
  run_interruptibly(listener, request.options, [&] { result.emplace(work()); });
  return std::move(*result);
}

}  // namespace millrace::python
