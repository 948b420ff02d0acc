#include "runtime/waiting/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <thread>

#include "base/error.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

using WatchdogClock = std::chrono::steady_clock;

class WatchedThreads {
 public:
  explicit WatchedThreads(const Watchdog& watchdog) : watchdog_(watchdog) {}

  /// If a thread cannot be started, those that were are asked to end, and wait() says so.
  void start(const std::vector<WatchedWork>& works) {
    watched_.reserve(works.size());
    try {
      for (const WatchedWork& work : works) watched_.push_back(started(work));
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void wait() {
    while (!watched_.empty()) {
      const std::uint32_t ticket = waiter_->ticket();
      join_ended();
      leave_stuck();
      call_between();
      if (!watched_.empty())
        waiter_->sleep_before(ticket, WatchdogClock::now() + between_two_looks);
    }
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  static constexpr Time between_two_looks = std::chrono::milliseconds(100);
  struct Watched {
    std::thread thread;
    std::shared_ptr<AtWork> at_work;
    std::shared_ptr<std::atomic<bool>> ended;  // shared with the thread
  };

  Watched started(const WatchedWork& work) {
    Watched watched;
    watched.at_work = work.at_work;
    watched.ended = std::make_shared<std::atomic<bool>>(false);
    watched.thread = std::thread([run = work.run, ended = watched.ended, waiter = waiter_] {
      run();
      *ended = true;
      waiter->notify();
    });
    return watched;
  }

  void join_ended() {
    std::erase_if(watched_, [](Watched& each) {
      if (!*each.ended) return false;
      each.thread.join();
      return true;
    });
  }

  void leave_stuck() {
    std::erase_if(watched_, [this](Watched& each) {
      const Time lasts = each.at_work->lasts();
      if (lasts < watchdog_.patience) return false;
      leave_cores_to_others(each.thread);  // which have to end
      each.thread.detach();
      fail(std::make_exception_ptr(EngineError(
          fmt::format("{} has been at work for {} and does not return; its thread is left alone",
                      each.at_work->what(), millrace::to_text(lasts)))));
      return true;
    });
  }

  void call_between() {
    if (!watchdog_.between || thrown_) return;
    try {
      watchdog_.between();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(const std::exception_ptr& error) {
    if (!thrown_) thrown_ = error;
    watchdog_.stop();
  }

  const Watchdog& watchdog_;
  const std::shared_ptr<EventCount> waiter_ = std::make_shared<EventCount>();  // with the threads
  std::vector<Watched> watched_;
  std::exception_ptr thrown_;
};

}  // namespace

void run_watched(const std::vector<WatchedWork>& works, const Watchdog& watchdog) {
  WatchedThreads threads(watchdog);
  threads.start(works);
  threads.wait();
}

}  // namespace millrace::runtime
