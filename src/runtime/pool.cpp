#include "runtime/pool.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "board/board.h"

namespace millrace::runtime {

// Invariants, under the mutex: given <= taken <= given + threads. One thread is between
// begin_taking and end_taking, one is between begin_giving and end_giving. Once `ended` or
// `stopped` is true it stays so. The mutex is never held while `take`, `work`, `give` or `at_end`
// run.
struct Pool::State {
  State(Take take_items, PoolOptions pool_options)
      : take(std::move(take_items)), options(std::move(pool_options)) {}

  const Take take;
  const PoolOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t taken = 0, given = 0;
  bool taking = false, ended = false, stopped = false;
  int running = 0;
  std::exception_ptr error;  // of the item `given`, which is the first that has one
  std::vector<std::thread> threads;

  struct Item {
    std::int64_t number = 0;
    Job job = {};
    std::exception_ptr error = {};
  };

  /// Nothing: no item will come.
  std::optional<Item> next() {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return !taking || ended || stopped; });
      if (ended || stopped) return std::nullopt;
      taking = true;
    }
    Item item;
    bool at_end = false;
    try {
      auto job = take();
      at_end = !job;
      if (job) item.job = std::move(*job);
    } catch (...) {
      item.error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    taking = false;
    ended = ended || at_end || item.error != nullptr;
    item.number = taken;
    if (!at_end) ++taken;
    changed.notify_all();
    if (at_end) return std::nullopt;
    return item;
  }

  static void work_on(Item& item) {
    if (item.error) return;
    try {
      item.job.work();
    } catch (...) {
      item.error = std::current_exception();
    }
  }

  /// In its turn; false: no more.
  bool give(Item& item) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return given == item.number || stopped; });
      if (stopped) return false;
    }
    bool wanted = false;
    try {
      if (!item.error) wanted = item.job.give();
    } catch (...) {
      item.error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    if (item.error && !error && !stopped) error = item.error;
    if (wanted)
      ++given;
    else
      stopped = true;
    changed.notify_all();
    return wanted;
  }

  void run() {
    for (auto item = next(); item; item = next()) {
      work_on(*item);
      if (!give(*item)) break;
    }
    leave();
  }

  void leave() {
    std::exception_ptr last;
    {
      const std::lock_guard lock(mutex);
      if (running > 1) {
        --running;
        changed.notify_all();
        return;
      }
      last = error;
    }
    if (options.at_end) options.at_end(last);
    const std::lock_guard lock(mutex);
    --running;
    changed.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex);
    stopped = true;
    changed.notify_all();
  }

  void join() {
    for (std::thread& thread : threads)
      if (thread.joinable()) thread.join();
  }
};

Pool::Pool(Take take, PoolOptions options)
    : state_(std::make_unique<State>(std::move(take), std::move(options))) {
  State& state = *state_;
  const board::Processor cores{state.options.name, board::ProcessorKind::cpu, state.options.cores};
  // Bound before the threads begin, so that a core that is not there is an error here.
  std::optional<board::PinGuard> pinned;
  if (!cores.cores.empty()) pinned.emplace(cores);
  state.running = state.options.threads;
  try {
    for (int i = 0; i < state.options.threads; ++i)
      state.threads.emplace_back([&state] { state.run(); });
  } catch (const std::exception& failure) {  // std::system_error or std::bad_alloc
    {
      const std::lock_guard lock(state.mutex);
      state.running -= state.options.threads - static_cast<int>(state.threads.size());
    }
    state.stop();
    state.join();
    throw EngineError(fmt::format("{}: a thread cannot be made: {}; use fewer threads",
                                  state.options.name, failure.what()));
  }
}

Pool::~Pool() {
  stop();
  state_->join();
}

void Pool::wait() {
  state_->join();
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Pool::wait_for(std::chrono::milliseconds time) {
  std::unique_lock lock(state_->mutex);
  if (!state_->changed.wait_for(lock, time, [&] { return state_->running == 0; })) return false;
  if (state_->error) std::rethrow_exception(state_->error);
  return true;
}

void Pool::stop() { state_->stop(); }

}  // namespace millrace::runtime
