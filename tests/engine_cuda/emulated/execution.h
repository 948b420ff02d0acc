#pragma once
// A place in running code that has a stack of its own. The system's swapcontext() calls the kernel
// twice each time, which would take longer than most threads of a GPU kernel.
#include <cstddef>
#include <span>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#else
/// Stores the registers that functions preserve, and takes those of the other stack.
extern "C" void emulated_change_stack(void** left, void* entered)
    __attribute__((visibility("hidden")));
#endif

namespace emulated {

class Execution {
 public:
  /// Holds the code that is running, once change() leaves it.
  Execution() = default;
  /// Begins with entry(), which never returns.
  Execution(std::span<std::byte> stack, void (*entry)());

  /// Leaves the code that runs, to be continued from `left`, and continues `entered`.
  static void change(Execution& left, Execution& entered) {
#if defined(__x86_64__) || defined(__aarch64__)
    emulated_change_stack(&left.stack_pointer_, entered.stack_pointer_);
#else
    ::swapcontext(&left.context_, &entered.context_);
#endif
  }

 private:
#if defined(__x86_64__) || defined(__aarch64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_;
#endif
};

}  // namespace emulated
