#pragma once
// Ctrl-C ends work cleanly: threads stop, no half-written file stays behind.

namespace millrace {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP is remembered instead of ending the
/// process; a second one ends it at once, whatever blocks. Any number may live at the same time, in
/// any threads: they are one until the last of them ends. A signal that nobody has taken by then
/// takes effect.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Throws EngineError "interrupted ..." once a signal has come.
  void check() const;
  /// Whether a signal has come since it was last asked; for what ends by itself then.
  bool take() const;
};

}  // namespace millrace
