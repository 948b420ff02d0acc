#include "base/process/signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <memory>
#include <mutex>

namespace millrace {
namespace {

constexpr std::array<int, 3> ending_signals{SIGINT, SIGTERM, SIGHUP};

// What a signal handler may touch.
std::atomic<int> signal_seen{0};    // 0: none, or it has been taken
std::atomic<bool> has_come{false};  // one has, since the outermost work began
std::atomic<int> works{0};          // written under the mutex; 0: the handler is not installed
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::mutex works_mutex;  // of who counts them; a handler never takes it
std::array<struct sigaction, ending_signals.size()> before_works{};  // under the mutex

/// In a handler this takes effect when it returns.
void end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// The first is remembered; from then on each ends the process at once.
extern "C" void remember_signal(int signal) {
  if (has_come.exchange(true)) return end_by(signal);
  signal_seen = signal;
  // The last work may have ended since this handler began. Then it has restored what was before,
  // and who of the two finds the signal raises it again.
  if (works != 0) return;
  if (const int seen = signal_seen.exchange(0); seen != 0) std::raise(seen);
}

std::atomic<int> user_signals{0};
struct sigaction before_user {};
extern "C" void count_signal(int) { ++user_signals; }

class UserSignals {
 public:
  UserSignals() {
    struct sigaction count {};
    count.sa_handler = count_signal;
    count.sa_flags = SA_RESTART;
    user_signals = 0;
    sigaction(SIGUSR1, &count, &before_user);
  }
  ~UserSignals() { sigaction(SIGUSR1, &before_user, nullptr); }
  UserSignals(const UserSignals&) = delete;
  UserSignals& operator=(const UserSignals&) = delete;
};

void install() {
  struct sigaction remember {};
  remember.sa_handler = remember_signal;
  remember.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    struct sigaction& before = before_works[i];
    sigaction(ending_signals[i], nullptr, &before);
    // nohup lets a lost terminal be ignored; so it stays.
    const bool stays = ending_signals[i] == SIGHUP && before.sa_handler == SIG_IGN;
    if (!stays) sigaction(ending_signals[i], &remember, nullptr);
  }
}

void restore() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i)
    sigaction(ending_signals[i], &before_works[i], nullptr);
}

class Signals final : public Interrupt {
 public:
  bool take() override { return signal_seen.exchange(0) != 0; }

  void begin() override {
    const std::lock_guard lock(works_mutex);
    if (works > 0) {
      ++works;
      return;
    }
    has_come = false;
    works = 1;
    install();
  }

  void end() override {
    int pending = 0;
    {
      const std::lock_guard lock(works_mutex);
      if (works > 1) {
        --works;
        return;
      }
      // In this order, for a handler that is at work meanwhile.
      restore();
      works = 0;
      pending = signal_seen.exchange(0);
    }
    if (pending != 0) std::raise(pending);
  }
};

}  // namespace

Interrupt& signals() {
  static Signals of_this_process;
  return of_this_process;
}

std::function<std::int64_t()> count_user_signals() {
  return [counter = std::make_shared<UserSignals>()] { return user_signals.exchange(0); };
}

}  // namespace millrace
