#include "runtime/waiting/live_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/waiting/pace.h"
#include "support/message_of.h"

namespace millrace::runtime {
namespace {

template <class Item>
std::vector<Item> all_of(LiveQueue<Item>& queue) {
  std::vector<Item> items;
  while (auto item = queue.take()) items.push_back(*item);
  return items;
}

TEST(live_queue, drops_the_oldest) {
  LiveQueue<int> queue(2, WhenFull::drop_oldest);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.put(i));
  queue.finish();
  EXPECT_EQ(all_of(queue), (std::vector<int>{3, 4}));
  EXPECT_EQ(queue.counts().put, 5);
  EXPECT_EQ(queue.counts().dropped, 3);
  EXPECT_EQ(queue.counts().most, 2);
}

TEST(live_queue, drops_the_newest) {
  LiveQueue<int> queue(2, WhenFull::drop_newest);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.put(i));
  queue.finish();
  EXPECT_EQ(all_of(queue), (std::vector<int>{0, 1}));
  EXPECT_EQ(queue.counts().dropped, 3);
}

TEST(live_queue, blocks_until_there_is_room) {
  LiveQueue<int> queue(1, WhenFull::block);
  std::thread source([&] {
    for (int i = 0; i < 1000; ++i) queue.put(i);
    queue.finish();
  });
  const std::vector<int> items = all_of(queue);
  source.join();
  EXPECT_EQ(items.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(items.begin(), items.end()));
  EXPECT_EQ(queue.counts().dropped, 0);
}

TEST(live_queue, ends_all_waits_when_it_is_closed) {
  LiveQueue<int> queue(1, WhenFull::block);
  queue.put(0);
  std::thread source([&] { EXPECT_FALSE(queue.put(1)); });
  queue.close();
  source.join();
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(live_queue, passes_on_the_sources_error_behind_all_items) {
  LiveQueue<int> queue(4, WhenFull::block);
  queue.put(1);
  queue.finish(std::make_exception_ptr(InputError("camera", "gone")));
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(test::message_of([&] { queue.take(); }), "camera: gone");
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(live_queue, takes_from_its_lanes_round_robin) {
  LiveQueue<int> queue({{8, WhenFull::block}, {2, WhenFull::drop_oldest}, {8, WhenFull::block}});
  for (int i = 0; i < 4; ++i) queue.put(i, 0);
  for (int i = 10; i < 15; ++i) queue.put(i, 1);
  queue.finish({}, 2);
  queue.finish({}, 0);
  EXPECT_EQ(queue.take(), 0);
  EXPECT_EQ(queue.take(), 13);
  EXPECT_EQ(queue.take(), 1);
  EXPECT_EQ(queue.take(), 14);
  EXPECT_EQ(queue.take(), 2);
  EXPECT_EQ(queue.take(), 3);
  EXPECT_EQ(queue.counts(0).dropped, 0);
  EXPECT_EQ(queue.counts(1).put, 5);
  EXPECT_EQ(queue.counts(1).dropped, 3);
  queue.finish({}, 1);
  EXPECT_EQ(queue.take(), std::nullopt);
}

TEST(live_queue, goes_on_with_other_lanes_after_the_error_of_one) {
  LiveQueue<int> queue({{4, WhenFull::block}, {4, WhenFull::block}});
  queue.finish(std::make_exception_ptr(InputError("camera", "gone")), 0);
  queue.put(1, 1);
  EXPECT_EQ(queue.take(), 1);
  queue.finish({}, 1);
  EXPECT_EQ(test::message_of([&] { queue.take(); }), "camera: gone");
}

TEST(pace, lets_frames_pass_at_its_rate_and_not_faster) {
  Pace pace(std::chrono::milliseconds(2));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(pace.wait());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(10));
}

TEST(pace, ends_a_wait) {
  Pace pace(std::chrono::hours(1));
  EXPECT_TRUE(pace.wait());
  std::thread waiting([&] { EXPECT_FALSE(pace.wait()); });
  pace.end();
  waiting.join();
}

}  // namespace
}  // namespace millrace::runtime
