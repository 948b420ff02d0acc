#include "runtime/latest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace millrace::runtime {
namespace {

TEST(Latest, keeps_the_newest_in_order) {
  Latest<int> latest(3);
  for (int i = 0; i < 5; ++i) latest.add(i);
  EXPECT_EQ(latest.in_order(), (std::vector<int>{2, 3, 4}));
}

TEST(WatchedLatest, loses_nothing_while_another_thread_looks) {
  constexpr int count = 20'000;
  WatchedLatest<int> latest;
  EXPECT_FALSE(latest.is_on());
  latest.set_capacity(count);
  std::atomic<bool> ended{false};
  std::thread looks([&] {
    while (!ended) {
      const std::vector<int> seen = latest.in_order();
      for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], static_cast<int>(i));
    }
  });
  for (int i = 0; i + 1 < count; ++i) latest.add(i);
  ended = true;
  looks.join();
  latest.add(count - 1);  // with it come those that were added while the other one looked
  EXPECT_EQ(latest.in_order().size(), static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace millrace::runtime
