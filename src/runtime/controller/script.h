#pragma once
// A controller follows a script.
#include <functional>
#include <optional>

#include "deployment/script.h"
#include "runtime/controller/controller.h"

namespace millrace::runtime {

struct PlayHooks {
  std::function<bool()> is_over = {};  // asked often
  /// Where the system is to be from now on, beside the script; `last`: where it was to be before.
  /// Nothing: there. Asked as often.
  std::function<std::optional<deployment::Wanted>(const deployment::Wanted& last)> wish = {};
  deployment::Wanted first = {};  // with which the controller was started
  /// Told where the system is to be: at the begin, and whenever that has changed.
  std::function<void(const deployment::Wanted&)> asked = {};
  /// Called for each step that adds a deployment, one after the other, on a thread of its own
  /// without priority. What it throws, play() throws.
  std::function<void(const deployment::ScriptStep&)> add = {};
};

/// Asks the controller for each step in its time, with the priority of the release thread, so that
/// no group delays it. Returns after `duration`, or when the controller has failed or `is_over`
/// says so; an addition that has begun is waited for.
void play(Controller& controller, const deployment::Script& script, Time duration,
          const PlayHooks& hooks = {});

}  // namespace millrace::runtime
