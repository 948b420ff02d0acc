#pragma once
// Code that runs on a stack of its own and can pause. Fibers are resumed by one thread at a time.
// What changes stacks is inline: processors guess wrongly where the functions around it return to.
#include "execution.h"
#include "sanitizer.h"

namespace emulated {

class Fiber {
 public:
  /// `body` never returns; it pauses instead.
  explicit Fiber(void (*body)());
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// Runs the body until it pauses. Not from within a fiber.
  void resume() {
    running_ = this;
    before_change(outside_stack_, inside_stack_);
    Execution::change(outside_, inside_);
    after_change(outside_stack_, inside_stack_);
  }
  /// The fiber that runs goes back to who resumed it.
  static void pause() {
    Fiber& self = *running_;
    before_change(self.inside_stack_, self.outside_stack_);
    Execution::change(self.inside_, self.outside_);
    after_change(self.inside_stack_, self.outside_stack_);
  }

 private:
  static void enter();

  inline static Fiber* running_ = nullptr;

  void (*body_)();
  void* memory_;
  Execution inside_, outside_;
  SanitizedStack inside_stack_, outside_stack_;
};

}  // namespace emulated
