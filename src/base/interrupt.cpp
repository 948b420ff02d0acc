#include "base/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>

#include "base/error.h"

namespace millrace {
namespace {

constexpr std::array<int, 3> ending_signals{SIGINT, SIGTERM, SIGHUP};

// What a signal handler may touch.
std::atomic<int> signal_seen{0};    // 0: none, or it has been taken
std::atomic<bool> has_come{false};  // one has, since the outermost guard began
std::atomic<int> guards{0};         // written under the mutex; 0: the handler is not installed
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::mutex guards_mutex;  // of who counts them; a handler never takes it
std::array<struct sigaction, ending_signals.size()> before_guards{};  // under the mutex

/// In a handler this takes effect when it returns.
void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The first is remembered; from then on each ends the process at once.
extern "C" void remember_signal(int signal) {
  if (has_come.exchange(true)) return end_by(signal);
  signal_seen = signal;
  // The last guard may have gone since this handler began. Then it has restored what was before,
  // and who of the two finds the signal raises it again.
  if (guards != 0) return;
  if (const int seen = signal_seen.exchange(0); seen != 0) std::raise(seen);
}

void install() {
  struct sigaction remember {};
  remember.sa_handler = remember_signal;
  remember.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    struct sigaction& before = before_guards[i];
    sigaction(ending_signals[i], nullptr, &before);
    // nohup lets a lost terminal be ignored; so it stays.
    const bool stays = ending_signals[i] == SIGHUP && before.sa_handler == SIG_IGN;
    if (!stays) sigaction(ending_signals[i], &remember, nullptr);
  }
}

void restore() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    sigaction(ending_signals[i], &before_guards[i], nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(guards_mutex);
  if (guards > 0) {
    ++guards;
    return;
  }
  has_come = false;
  guards = 1;
  install();
}

InterruptGuard::~InterruptGuard() {
  int pending = 0;
  {
    const std::lock_guard lock(guards_mutex);
    if (guards > 1) {
      --guards;
      return;
    }
    // In this order, for a handler that is at work meanwhile.
    restore();
    guards = 0;
    pending = signal_seen.exchange(0);
  }
  if (pending != 0) std::raise(pending);
}

bool InterruptGuard::take() const { return signal_seen.exchange(0) != 0; }

void InterruptGuard::check() const {
  if (take()) throw EngineError("interrupted; no result was written");
}

}  // namespace millrace
