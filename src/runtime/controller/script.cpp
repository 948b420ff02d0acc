#include "runtime/controller/script.h"

#include <algorithm>

#include "runtime/scheduling/thread_priority.h"
#include "runtime/waiting/event_count.h"

namespace millrace::runtime {
namespace {

/// How often is_over is asked.
constexpr Time most_between_questions = std::chrono::milliseconds(50);

}  // namespace

void play(Controller& controller, const deployment::Script& script, Time duration,
          const std::function<bool()>& is_over) {
  const PriorityGuard in_time(controller.release_priority());
  const auto begin = std::chrono::steady_clock::now();
  EventCount never;
  const std::uint32_t ticket = never.ticket();
  std::size_t next = 0;
  while (!controller.has_failed() && !(is_over && is_over())) {
    const auto now = std::chrono::steady_clock::now();
    while (next < script.size() && begin + script[next].at <= now)
      controller.switch_to(script[next++].wanted);
    auto until = std::min(begin + duration, now + most_between_questions);
    if (now >= begin + duration) return;
    if (next < script.size()) until = std::min(until, begin + script[next].at);
    never.sleep_before(ticket, until);
  }
}

}  // namespace millrace::runtime
