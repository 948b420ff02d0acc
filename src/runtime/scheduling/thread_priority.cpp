#include "runtime/scheduling/thread_priority.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace millrace::runtime {
namespace {

bool set_fifo(int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  return ::sched_setscheduler(0, SCHED_FIFO, &wanted) == 0;
}

}  // namespace

Verdict may_have_priority(int priority) {
  const int policy = ::sched_getscheduler(0);
  sched_param before{};
  ::sched_getparam(0, &before);
  if (!set_fifo(priority))
    return Verdict::no(
        fmt::format("SCHED_FIFO with priority {} is refused ({}); run as root, or "
                    "set `ulimit -r {}`",
                    priority, std::strerror(errno), highest_priority));
  ::sched_setscheduler(0, policy, &before);
  return Verdict::yes();
}

void set_priority_of_this_thread(int priority) {
  if (!set_fifo(priority))
    throw EngineError(fmt::format("a thread cannot have priority {} of SCHED_FIFO: {}", priority,
                                  std::strerror(errno)));
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

void leave_cores_to_others(std::thread& thread) {
  const sched_param none{};
  // A refusal leaves it where it is, and nothing better can be done.
  static_cast<void>(::pthread_setschedparam(thread.native_handle(), SCHED_IDLE, &none));
}

PriorityGuard::PriorityGuard(int priority) {
  if (priority == 0) return;
  policy_before_ = ::sched_getscheduler(0);
  ::sched_getparam(0, &before_);
  set_priority_of_this_thread(priority);
  is_changed_ = true;
}

PriorityGuard::~PriorityGuard() {
  if (is_changed_) ::sched_setscheduler(0, policy_before_, &before_);
}

Time time_on_core() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Time(now.tv_nsec);
}

long preemptions_of_this_thread() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace millrace::runtime
