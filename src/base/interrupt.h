#pragma once
// Ctrl-C ends work cleanly: threads stop, no half-written file stays behind.
#include <array>
#include <csignal>

namespace millrace {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is remembered instead of ending the process;
/// a second one ends it at once, whatever blocks. One that check() has not reported takes effect at
/// the end of the outermost guard.
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

 private:
  static constexpr std::array<int, 3> signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace millrace
