#include "base/interrupt.h"

#include <utility>

#include "base/error.h"
#include "base/operation/interruption_point.h"

namespace millrace {
namespace {

std::atomic<Interrupt*> of_files{nullptr};
thread_local const InterruptGuard* of_loops = nullptr;

}  // namespace

void InterruptGuard::check() const {
  if (take()) throw EngineError("interrupted; no result was written");
}

Interruptible::Interruptible(const InterruptGuard& guard)
    : before_(std::exchange(of_loops, &guard)) {}
Interruptible::~Interruptible() { of_loops = before_; }

void interruption_point() {
  if (of_loops != nullptr) of_loops->check();
}

void set_interrupt_of_files(Interrupt* interrupt) { of_files = interrupt; }
Interrupt* interrupt_of_files() { return of_files; }

}  // namespace millrace
