#pragma once
// Ctrl-C ends a run cleanly: threads stop, no half-written file stays behind.
namespace millrace::cli {

/// While it lives, SIGINT and SIGTERM are remembered instead of ending the process.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Throws EngineError "interrupted ..." once a signal has come.
  void check() const;
};

}  // namespace millrace::cli
