#include "engine/plugin/run_event.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/process/foreign_call.h"
#include "millrace/engine.h"

namespace millrace::engine::plugin {

struct RunEvent::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::int32_t> result;
  // While a run goes on.
  std::shared_ptr<State> self;
  std::shared_ptr<const void> keeps;
};

RunEvent::RunEvent(std::shared_ptr<const void> keeps)
    : state_(std::make_shared<State>()), keeps_(std::move(keeps)) {}

void RunEvent::done(void* user, std::int32_t failed) {
  State& state = *static_cast<State*>(user);
  std::shared_ptr<State> self;  // goes without the lock
  std::shared_ptr<const void> keeps;
  const std::lock_guard lock(state.mutex);
  self = std::move(state.self);
  keeps = std::move(state.keeps);
  state.result = failed;
  state.changed.notify_all();
}

std::int32_t RunEvent::await(const std::string& what, TimeLimit limit,
                             const std::function<std::int32_t(void* user)>& run) {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    if (state.self) throw EngineError(what + " cannot begin: an earlier run is not done");
    state.result.reset();
    state.self = state_;
    state.keeps = keeps_;
  }
  std::int32_t failed = 0;
  {
    const ForeignCall call(what);
    try {
      failed = run(&state);
    } catch (...) {
      done(&state, millrace_failed);
      throw EngineError(what + " threw an exception; ask its maker to catch it");
    }
  }
  if (failed != 0) done(&state, failed);  // nobody else calls it then
  std::unique_lock lock(state.mutex);
  const auto is_done = [&] { return state.result.has_value(); };
  if (limit.count() <= 0)
    state.changed.wait(lock, is_done);
  else if (!state.changed.wait_for(lock, limit, is_done))
    throw EngineError(fmt::format("{} was not done within {} s; allow more with "
                                  "⟨engine_option⟩ NAME.time_limit=SECONDS, or restart the device",
                                  what, limit.count()));
  return *state.result;
}

}  // namespace millrace::engine::plugin
