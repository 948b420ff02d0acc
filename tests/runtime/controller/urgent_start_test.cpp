#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"

namespace millrace::runtime {
namespace {

int policy_of_this_thread() { return ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK; }

int policy_of_new_thread() {
  int policy = 0;
  std::thread([&] { policy = policy_of_this_thread(); }).join();
  return policy;
}

TEST(UrgentStart, goes_before_ordinary_threads_and_starts_ordinary_ones) {
  if (const Verdict may = may_have_priority(lowest_priority); !may) GTEST_SKIP() << may.reason();
  {
    const UrgentStart urgent(true);
    EXPECT_EQ(policy_of_this_thread(), SCHED_FIFO);
    EXPECT_EQ(policy_of_new_thread(), SCHED_OTHER);
    EXPECT_TRUE(may_have_priority(highest_priority));
    { const PriorityGuard more(20); }
    EXPECT_EQ(policy_of_this_thread(), SCHED_FIFO);
    EXPECT_EQ(policy_of_new_thread(), SCHED_OTHER);
  }
  EXPECT_EQ(policy_of_this_thread(), SCHED_OTHER);
  const UrgentStart none(false);
  EXPECT_EQ(policy_of_this_thread(), SCHED_OTHER);
}

TEST(age_of_this_process, grows) {
  const Time first = age_of_this_process();
  EXPECT_GE(first, Time{});
  EXPECT_LT(first, std::chrono::hours(1));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(30)) {
  }
  EXPECT_GE(age_of_this_process() - first, std::chrono::milliseconds(29));
}

}  // namespace
}  // namespace millrace::runtime
