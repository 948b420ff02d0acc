#include "base/interrupt.h"

#include <atomic>

#include "base/error.h"

namespace millrace {
namespace {

// The one thing a signal handler may touch.
std::atomic<int> signal_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);

constexpr std::array<int, 3> ending_signals{SIGINT, SIGTERM, SIGHUP};

/// The first is remembered; from then on each ends the process at once.
extern "C" void remember_signal(int signal) {
  signal_seen = signal;
  for (const int each : ending_signals) {
    struct sigaction now {};
    sigaction(each, nullptr, &now);
    if (now.sa_handler != remember_signal) continue;
    now.sa_handler = SIG_DFL;
    sigaction(each, &now, nullptr);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction remember {};
  remember.sa_handler = remember_signal;
  remember.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    // nohup lets a lost terminal be ignored; so it stays.
    const bool stays = signals[i] == SIGHUP && before_[i].sa_handler == SIG_IGN;
    if (!stays) sigaction(signals[i], &remember, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  if (const int signal = signal_seen.exchange(0); signal != 0) std::raise(signal);
}

bool InterruptGuard::take() const { return signal_seen.exchange(0) != 0; }

void InterruptGuard::check() const {
  if (take())
    throw EngineError("interrupted; no result was written");
}

}  // namespace millrace
