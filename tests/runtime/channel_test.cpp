#include "runtime/channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Channel, holds_as_many_tokens_as_its_capacity) {
  Channel channel(3, 0ns, 0ns);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(channel.space(), Readiness::yes);
    EXPECT_TRUE(channel.wait_for_space());
    channel.push();
  }
  EXPECT_EQ(channel.space(), Readiness::not_yet);
  EXPECT_TRUE(channel.wait_for_token());
  channel.pop();
  EXPECT_EQ(channel.space(), Readiness::yes);
}

TEST(Channel, counts_tokens_and_spaces_that_come_and_go_together) {
  Channel channel(5, 0ns, 0ns);
  EXPECT_EQ(channel.spaces(), 5);
  channel.push(3);
  EXPECT_EQ(channel.spaces(), 2);
  EXPECT_EQ(channel.tokens(), 3);
  channel.pop(2);
  EXPECT_EQ(channel.tokens(), 1);
  EXPECT_EQ(channel.spaces(), 4);
}

TEST(Channel, after_finish_the_tokens_in_it_can_be_taken_and_then_no_more) {
  Channel channel(2, 0ns, 0ns);
  channel.wait_for_space();
  channel.push();
  channel.finish();
  EXPECT_TRUE(channel.wait_for_token());
  channel.pop();
  EXPECT_FALSE(channel.wait_for_token());
}

TEST(Channel, wait_for_token_is_false_after_close_though_there_is_a_token) {
  Channel channel(2, 0ns, 0ns);
  channel.wait_for_space();
  channel.push();
  channel.close();
  EXPECT_FALSE(channel.wait_for_token());
}

TEST(Channel, wait_for_token_is_false_after_close_though_the_token_was_already_seen) {
  Channel channel(2, 0ns, 0ns);
  channel.wait_for_space();
  channel.push();
  EXPECT_TRUE(channel.wait_for_token());
  channel.close();
  EXPECT_FALSE(channel.wait_for_token());
}

TEST(Channel, wait_for_space_is_false_after_close_though_there_is_space) {
  Channel channel(2, 0ns, 0ns);
  channel.close();
  EXPECT_EQ(channel.space(), Readiness::never);
  EXPECT_FALSE(channel.wait_for_space());
}

TEST(Channel, closing_and_finishing_twice_changes_nothing) {
  Channel channel(1, 0ns, 0ns);
  channel.finish();
  channel.finish();
  EXPECT_FALSE(channel.wait_for_token());
  channel.close();
  channel.close();
  channel.finish();
  EXPECT_FALSE(channel.wait_for_token());
}

/// Sleeping at once, and spinning before.
class WaitingChannel : public testing::TestWithParam<Time> {};

TEST_P(WaitingChannel, close_ends_a_wait_for_a_token_and_one_for_space) {
  for (int round = 0; round < 200; ++round) {
    Channel empty(1, GetParam(), GetParam());
    Channel full(1, GetParam(), GetParam());
    ASSERT_TRUE(full.wait_for_space());
    full.push();
    std::thread reader([&] { EXPECT_FALSE(empty.wait_for_token()); });
    std::thread writer([&] { EXPECT_FALSE(full.wait_for_space()); });
    for (int i = 0; i < round * 10; ++i) relax();
    empty.close();
    full.close();
    reader.join();
    writer.join();
  }
}

TEST_P(WaitingChannel, finish_ends_a_wait_for_a_token) {
  for (int round = 0; round < 200; ++round) {
    Channel channel(1, GetParam(), GetParam());
    std::thread reader([&] { EXPECT_FALSE(channel.wait_for_token()); });
    for (int i = 0; i < round * 10; ++i) relax();
    channel.finish();
    reader.join();
  }
}

// The memory is not atomic: a token that arrived too early or a slot that was freed too early
// shows as a wrong number, and under ThreadSanitizer as a race.
TEST_P(WaitingChannel, what_is_written_before_push_is_read_after_the_wait) {
  constexpr std::int64_t frames = 5'000;
  for (const std::int64_t capacity : {1, 2, 3, 7}) {
    Channel channel(capacity, GetParam(), GetParam());
    std::vector<std::int64_t> ring(static_cast<std::size_t>(capacity), -1);
    std::thread writer([&] {
      for (std::int64_t frame = 0; frame < frames; ++frame) {
        if (!channel.wait_for_space()) return;
        ring[static_cast<std::size_t>(frame % capacity)] = frame;
        channel.push();
      }
      channel.finish();
    });
    std::int64_t received = 0, wrong = 0;
    while (channel.wait_for_token()) {
      std::int64_t& slot = ring[static_cast<std::size_t>(received % capacity)];
      if (slot != received) ++wrong;
      slot = -1;
      channel.pop();
      ++received;
    }
    writer.join();
    EXPECT_EQ(received, frames);
    EXPECT_EQ(wrong, 0);
  }
}

TEST_P(WaitingChannel, a_close_in_the_middle_ends_both_sides) {
  for (int round = 0; round < 50; ++round) {
    Channel channel(2, GetParam(), GetParam());
    std::atomic<std::int64_t> received{0};
    std::thread writer([&] {
      while (channel.wait_for_space()) channel.push();
    });
    std::thread reader([&] {
      while (channel.wait_for_token()) {
        channel.pop();
        received.fetch_add(1, std::memory_order_relaxed);
      }
    });
    while (received.load(std::memory_order_relaxed) < round) std::this_thread::yield();
    channel.close();
    writer.join();
    reader.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Spins, WaitingChannel, testing::Values(0ns, Time(5us), Time(100us)),
                         [](const testing::TestParamInfo<Time>& spin) {
                           return "spin_" + std::to_string(spin.param.count()) + "_ns";
                         });

}  // namespace
}  // namespace millrace::runtime
