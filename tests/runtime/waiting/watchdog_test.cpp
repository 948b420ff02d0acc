#include "runtime/waiting/watchdog.h"

#include <gtest/gtest.h>

#include <system_error>
#include <thread>

#include "support/room_for_threads.h"

namespace millrace::runtime {
namespace {

TEST(Attended, a_thread_that_cannot_be_started_ends_the_others) {
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const WatchedWork until_the_end{[ended] {
                                     while (!*ended) std::this_thread::yield();
                                   },
                                   std::make_shared<AtWork>()};
  const Watchdog watchdog{std::chrono::seconds(100), [ended] { *ended = true; }};
  const test::RoomForThreads room(1);
  EXPECT_THROW(run_watched({until_the_end, until_the_end}, watchdog), std::system_error);
  EXPECT_TRUE(*ended);
}

}  // namespace
}  // namespace millrace::runtime
