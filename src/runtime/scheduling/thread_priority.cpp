#include "runtime/scheduling/thread_priority.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "base/error.h"

namespace millrace::runtime {
namespace {

/// As sched_setattr(2) takes it; glibc has it from 2.41 on.
struct DeadlineAttributes {
  std::uint32_t size = 48, policy = 6;  // SCHED_DEADLINE
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // in nanoseconds
};
static_assert(sizeof(DeadlineAttributes) == 48);

bool set_fifo(int priority) {
  sched_param wanted{};
  wanted.sched_priority = priority;
  // Only root may take this flag away.
  const int kept = ::sched_getscheduler(0) & SCHED_RESET_ON_FORK;
  return ::sched_setscheduler(0, SCHED_FIFO | kept, &wanted) == 0;
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

void set_deadline_of_this_thread(Time runtime, Time period) {
  DeadlineAttributes wanted;
  wanted.runtime = static_cast<std::uint64_t>(runtime.count());
  wanted.deadline = wanted.period = static_cast<std::uint64_t>(period.count());
  if (::syscall(SYS_sched_setattr, 0, &wanted, 0) != 0)
    throw EngineError(fmt::format("SCHED_DEADLINE with {} in each {} is refused ({}); run as root, "
                                  "and leave the thread on all cores",
                                  to_text(runtime), to_text(period), std::strerror(errno)));
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
