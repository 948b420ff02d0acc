#pragma once
// A thread for calls that may never come back.
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace millrace::engine::plugin {

/// Seconds; 0: no limit, and calls run on the thread of the caller.
using TimeLimit = std::chrono::duration<double>;

/// Calls come from one thread at a time. The thread begins with the first call, so that it has the
/// caller's cores and priority.
class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// What the call gives. EngineError, which begins with `what` ("the plug-in npu in run() for
  /// npu0"), if it takes longer or throws. Then the thread is left alone with what the call holds,
  /// and each further call fails.
  std::int32_t call(const std::string& what, TimeLimit limit, std::function<std::int32_t()> call);
  bool hangs() const { return hangs_; }

 private:
  struct State;
  std::shared_ptr<State> state_;  // sharers: the thread, which may outlive this
  std::thread thread_;
  bool hangs_ = false;
};

}  // namespace millrace::engine::plugin
