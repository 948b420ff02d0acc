#include "base/interrupt.h"

#include "base/error.h"

namespace millrace {
namespace {

std::atomic<Interrupt*> of_files{nullptr};

}  // namespace

void InterruptGuard::check() const {
  if (take()) throw EngineError("interrupted; no result was written");
}

void set_interrupt_of_files(Interrupt* interrupt) { of_files = interrupt; }
Interrupt* interrupt_of_files() { return of_files; }

}  // namespace millrace
