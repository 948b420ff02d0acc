#pragma once
// oneDNN's kernels may keep a pointer into the heap in the stack's register while they compute
// (https://github.com/uxlfoundation/oneDNN/issues/4845, mended in 2026), so a handler of the
// program that runs meanwhile would write into the heap.
#include <csignal>
#include <initializer_list>

namespace millrace::engine::onednn {

/// While it lives, signals wait that others send to this thread, or go to threads that take them;
/// threads that it starts are the same for good.
class HeldSignals {
 public:
  HeldSignals() { pthread_sigmask(SIG_BLOCK, &all(), &before_); }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  /// But those of this thread's own faults.
  static const sigset_t& all() {
    static const sigset_t signals = [] {
      sigset_t set;
      sigfillset(&set);
      for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
        sigdelset(&set, fault);
      return set;
    }();
    return signals;
  }
  sigset_t before_;
};

}  // namespace millrace::engine::onednn
