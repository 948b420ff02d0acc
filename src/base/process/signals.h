#pragma once
// Ctrl-C at a program ends work cleanly. For its main function: no library function calls this.
#include <cstdint>
#include <functional>

#include "base/interrupt.h"

namespace millrace {

/// While work is on, the first SIGINT, SIGTERM or SIGHUP is remembered instead of ending the
/// process; a second one ends it at once, whatever blocks. Works that overlap are one until the
/// last of them ends. A signal that nobody has taken by then takes effect. take() says yes once.
Interrupt& signals();

/// While the result or a copy of it lives, SIGUSR1 is counted instead of ending the process. It
/// says how many have come since it was called last. One at a time.
std::function<std::int64_t()> count_user_signals();

}  // namespace millrace
