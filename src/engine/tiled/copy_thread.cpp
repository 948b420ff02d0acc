#include "engine/tiled/copy_thread.h"

#include <utility>

namespace millrace::engine::tiled {
namespace {

constexpr std::int32_t computing = 0, moving = 1;

/// Until the number is another one than `old`.
void wait_for_change(const std::atomic<std::int64_t>& number, std::int64_t old) {
  constexpr int spins = 20000;  // some microseconds: most steps are as short
  for (int i = 0; i < spins; ++i)
    if (number.load(std::memory_order_acquire) != old) return;
  number.wait(old, std::memory_order_acquire);
}

void raise(std::atomic<std::int64_t>& number) {
  number.fetch_add(1, std::memory_order_release);
  number.notify_one();
}

}  // namespace

CopyThread::CopyThread(board::Processor core)
    : thread_([this, core = std::move(core)] { work(core); }) {}

CopyThread::~CopyThread() {
  machine_ = nullptr;
  raise(begun_);
  thread_.join();
}

void CopyThread::run(const workload::Machine& machine) {
  const std::int64_t steps = workload::steps_of(machine.links, machine.link_count);
  machine_ = &machine;
  for (step_ = 0; step_ < steps; ++step_) {
    const std::int64_t done = done_.load(std::memory_order_relaxed);
    raise(begun_);
    workload::run_step(machine, step_, computing);
    wait_for_change(done_, done);
  }
}

void CopyThread::work(const board::Processor& core) {
  board::pin_this_thread(core);
  for (std::int64_t seen = 0;; ++seen) {
    wait_for_change(begun_, seen);
    if (machine_ == nullptr) return;
    workload::run_step(*machine_, step_, moving);
    raise(done_);
  }
}

}  // namespace millrace::engine::tiled
