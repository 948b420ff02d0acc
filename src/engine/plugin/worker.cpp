#include "engine/plugin/worker.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/process/foreign_call.h"

namespace millrace::engine::plugin {

struct Worker::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<std::int32_t()> task;  // empty: none waits
  std::string what;
  std::int32_t result = 0;
  bool threw = false, is_busy = false, ends = false;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ends || task; });
      if (!task) return;
      const auto now = std::exchange(task, {});
      const ForeignCall call(what);
      lock.unlock();
      bool fails = false;
      std::int32_t given = 0;
      try {
        given = now();
      } catch (...) {
        fails = true;
      }
      lock.lock();
      result = given;
      threw = fails;
      is_busy = false;
      changed.notify_all();
    }
  }
};

namespace {

std::int32_t call_here(const std::string& what, const std::function<std::int32_t()>& call) {
  const ForeignCall foreign(what);
  try {
    return call();
  } catch (...) {
    throw EngineError(what + " threw an exception; ask its maker to catch it");
  }
}

}  // namespace

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
  if (hangs_)
    thread_.detach();
  else
    thread_.join();
}

std::int32_t Worker::call(const std::string& what, TimeLimit limit,
                          std::function<std::int32_t()> call) {
  if (hangs_) throw EngineError(what + " cannot begin: an earlier call has not come back");
  if (limit.count() <= 0) return call_here(what, call);
  if (!state_) {
    state_ = std::make_shared<State>();
    thread_ = std::thread([state = state_] { state->work(); });
  }
  std::unique_lock lock(state_->mutex);
  state_->task = std::move(call);
  state_->what = what;
  state_->is_busy = true;
  state_->changed.notify_all();
  if (!state_->changed.wait_for(lock, limit, [&] { return !state_->is_busy; })) {
    hangs_ = true;
    throw EngineError(fmt::format("{} did not come back within {} s; allow more with "
                                  "⟨engine_option⟩ NAME.time_limit=SECONDS, or restart the device",
                                  what, limit.count()));
  }
  if (state_->threw) throw EngineError(what + " threw an exception; ask its maker to catch it");
  return state_->result;
}

}  // namespace millrace::engine::plugin
