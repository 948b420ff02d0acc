#pragma once
// Long loops ask here whether they are to end, without being handed an interrupt.
#include "base/interrupt.h"

namespace millrace {

/// While one lives, long loops on this thread look at the guard, which is borrowed.
class Interruptible {
 public:
  explicit Interruptible(const InterruptGuard& guard);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  const InterruptGuard* before_;
};

/// InterruptGuard::check() of the thread's newest Interruptible; nothing if there is none.
void interruption_point();

}  // namespace millrace
