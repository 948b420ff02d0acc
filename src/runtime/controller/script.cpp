#include "runtime/controller/script.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

/// How often is_over is asked.
constexpr Time most_between_questions = std::chrono::milliseconds(50);

using Moment = std::chrono::steady_clock::time_point;

/// Deploying networks takes long, and no frame is to wait for it: a thread of the priority that the
/// caller has.
class Additions {
 public:
  Additions(const deployment::Script& script, const PlayHooks& hooks, Moment begin) {
    for (const deployment::ScriptStep& step : script)
      if (!step.add.empty() && hooks.add) steps_.push_back(step);
    if (!steps_.empty()) thread_ = std::thread([this, &hooks, begin] { run(hooks, begin); });
  }
  ~Additions() { wait(); }
  Additions(const Additions&) = delete;
  Additions& operator=(const Additions&) = delete;

  /// For the one that has begun; rethrows.
  void end() {
    wait();
    if (error_) std::rethrow_exception(std::exchange(error_, {}));
  }
  bool has_failed() const { return failed_; }

 private:
  void wait() {
    ended_ = true;
    moment_.notify();
    if (thread_.joinable()) thread_.join();
  }
  void run(const PlayHooks& hooks, Moment begin) {
    try {
      for (const deployment::ScriptStep& step : steps_) {
        if (!is_reached(begin + step.at)) return;
        hooks.add(step);
      }
    } catch (...) {
      error_ = std::current_exception();
      failed_ = true;
    }
  }
  /// False: the end came first.
  bool is_reached(Moment moment) {
    while (!ended_) {
      const std::uint32_t ticket = moment_.ticket();
      if (std::chrono::steady_clock::now() >= moment) return !ended_;
      if (!ended_) moment_.sleep_before(ticket, moment);
    }
    return false;
  }

  deployment::Script steps_;
  std::atomic<bool> ended_{false}, failed_{false};
  EventCount moment_;
  std::exception_ptr error_;  // read after the thread has ended
  std::thread thread_;
};

}  // namespace

void play(Controller& controller, const deployment::Script& script, Time duration,
          const PlayHooks& hooks) {
  const auto begin = std::chrono::steady_clock::now();
  Additions additions(script, hooks, begin);
  const PriorityGuard in_time(controller.release_priority());
  EventCount never;
  const std::uint32_t ticket = never.ticket();
  std::size_t next = 0;
  deployment::Wanted last = hooks.first;
  std::optional<deployment::Wanted> told;
  while (!controller.has_failed() && !additions.has_failed() &&
         !(hooks.is_over && hooks.is_over())) {
    const auto now = std::chrono::steady_clock::now();
    for (; next < script.size() && begin + script[next].at <= now; ++next)
      if (script[next].add.empty()) controller.switch_to(last = script[next].wanted);
    if (hooks.wish)
      if (const auto wanted = hooks.wish(last)) controller.switch_to(last = *wanted);
    if (std::exchange(told, last) != last && hooks.asked) hooks.asked(last);
    auto until = std::min(begin + duration, now + most_between_questions);
    if (now >= begin + duration) break;
    if (next < script.size()) until = std::min(until, begin + script[next].at);
    never.sleep_before(ticket, until);
  }
  additions.end();
}

}  // namespace millrace::runtime
