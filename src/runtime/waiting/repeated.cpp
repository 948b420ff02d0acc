#include "runtime/waiting/repeated.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace millrace::runtime {

struct Repeated::State {
  std::function<void()> call;
  std::chrono::milliseconds period;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread thread;

  void run() {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, period, [&] { return ended; })) {
      lock.unlock();
      call();
      lock.lock();
    }
  }
};

Repeated::Repeated(std::function<void()> call, std::chrono::milliseconds period)
    : state_(std::make_unique<State>()) {
  state_->call = std::move(call);
  state_->period = period;
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Repeated::~Repeated() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ended = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

}  // namespace millrace::runtime
