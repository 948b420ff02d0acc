#include "runtime/background_load.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "support/room_for_threads.h"

namespace millrace::runtime {
namespace {

TEST(BackgroundLoad, all_others_run_until_the_work_is_done) {
  std::atomic<int> first{0}, second{0};
  bool done = false;
  const std::vector<std::function<void()>> others{[&] { ++first; }, [&] { ++second; }};
  under_background_load(others, [&] {
    while (first < 3 || second < 3) {
    }
    done = true;
  });
  EXPECT_TRUE(done);
}

TEST(BackgroundLoad, what_another_throws_comes_out_after_the_work) {
  std::atomic<bool> called{false};
  bool done = false;
  const std::vector<std::function<void()>> others{[&] {
    called = true;
    throw std::runtime_error("broken");
  }};
  const auto work = [&] {
    while (!called) {
    }
    done = true;
  };
  EXPECT_THROW(under_background_load(others, work), std::runtime_error);
  EXPECT_TRUE(done);
}

TEST(BackgroundLoad, what_the_work_throws_ends_the_others) {
  std::atomic<int> runs{0};
  const std::vector<std::function<void()>> others{[&] { ++runs; }};
  EXPECT_THROW(under_background_load(others, [] { throw std::logic_error("wrong"); }),
               std::logic_error);
}

TEST(BackgroundLoad, a_thread_that_cannot_be_started_ends_the_others) {
  std::atomic<int> runs{0};
  const std::vector<std::function<void()>> others(2, [&] { ++runs; });
  const test::RoomForThreads room(1);
  EXPECT_THROW(under_background_load(others, [] {}), std::system_error);
}

TEST(BackgroundLoad, without_others_only_the_work_is_done) {
  bool done = false;
  under_background_load({}, [&] { done = true; });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace millrace::runtime
