#pragma once
// A controller follows a script.
#include <functional>

#include "deployment/script.h"
#include "runtime/controller/controller.h"

namespace millrace::runtime {

/// Asks the controller for each step in its time, with the priority of the release thread, so that
/// no group delays it. Returns after `duration`, or when the controller has failed or `is_over`
/// says so, which is asked often.
void play(Controller& controller, const deployment::Script& script, Time duration,
          const std::function<bool()>& is_over = {});

}  // namespace millrace::runtime
