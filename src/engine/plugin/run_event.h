#pragma once
// The end of a run that returned early: the plug-in calls done(), perhaps never.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/plugin/worker.h"

namespace millrace::engine::plugin {

/// One run after the other, from one thread at a time.
class RunEvent {
 public:
  /// `keeps`: what the run reads and writes; it lives until done() was called.
  explicit RunEvent(std::shared_ptr<const void> keeps);

  /// What run() or done() gave. `run` is given who is to be told: MillraceRun::user. EngineError
  /// that begins with `what` if done() is not called within the limit (0: none); then each further
  /// call fails.
  std::int32_t await(const std::string& what, TimeLimit limit,
                     const std::function<std::int32_t(void* user)>& run);

  /// MillraceRun::done. From any thread.
  static void done(void* user, std::int32_t failed);

 private:
  struct State;
  std::shared_ptr<State> state_;  // sharers: a run that is not done
  std::shared_ptr<const void> keeps_;
};

}  // namespace millrace::engine::plugin
