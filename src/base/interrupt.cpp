#include "cli/interrupt.h"

#include <csignal>

#include "base/error.h"

namespace millrace::cli {
namespace {

// The one thing a signal handler may touch.
volatile std::sig_atomic_t signal_seen = 0;

extern "C" void remember_signal(int signal) { signal_seen = signal; }

}  // namespace

InterruptGuard::InterruptGuard() {
  signal_seen = 0;
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void InterruptGuard::check() const {
  if (signal_seen != 0)
    throw EngineError("interrupted; the pipeline was stopped and no output file was written");
}

}  // namespace millrace::cli
