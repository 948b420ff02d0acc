// Plans whose stages are copies of the whole network: frames go to whoever is free.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include "plan/steps.h"
#include "runtime/session.h"
#include "runtime/session_fixture.h"
#include "runtime/shared.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::value_of;

class SharedFrames : public test::SessionTest {
 protected:
  plan::Plan copies(const network::Network& network, std::size_t count,
                    const std::vector<std::int64_t>& batches = {}) {
    plan::BuildOptions options{.engine = "engine", .capacity = 3, .batches = batches};
    for (std::size_t i = 1; i < count; ++i) options.replicas[ProcessorId(0)].emplace_back(i);
    const std::vector<std::size_t> processors(network.layers.size(), 0);
    return plan::build(network, test::imagined_board(6), test::mapping(processors), options);
  }
  /// The replica on the first processor waits in its first frame until `gate` opens.
  void hold_first(std::latch& gate) {
    decorate({.before_prepare = {},
              .before_run =
                  [this, &gate](const engine::SubnetRequest& request) {
                    if (request.processor.name != test::imagined_board(1).processors[0].name)
                      return;
                    held_ = true;
                    gate.wait();
                  },
              .format = {}});
  }
  /// Puts frames in until that replica has one; takes those that the other was faster to take.
  int submit_until_held(Session& session, const network::Network& network) {
    for (int frame_held = 0;; ++frame_held) {
      EXPECT_TRUE(session.submit(frame(network, static_cast<float>(frame_held))));
      while (!held_ && session.statistics()[1].frames <= frame_held) std::this_thread::yield();
      if (session.statistics()[1].frames <= frame_held) return frame_held;
      EXPECT_EQ(session.next()->frame, frame_held);
    }
  }

  std::atomic<bool> held_{false};
};

TEST_F(SharedFrames, come_out_in_order_with_their_results) {
  const auto network = chain(2);
  const plan::Plan plan = copies(network, 3);
  ASSERT_TRUE(plan::is_first_free(plan));
  Session session = deploy(plan, network, engines_, unpinned);
  int taken = 0;
  for (int i = 0; i < 500; ++i) {
    while (!session.submit_unless_result(frame(network, static_cast<float>(i)))) {
      const auto result = session.next();
      ASSERT_TRUE(result);
      EXPECT_EQ(result->frame, taken);
      EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(taken++) + 2);
    }
  }
  session.finish();
  while (const auto result = session.next())
    EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(taken++) + 2);
  EXPECT_EQ(taken, 500);
}

TEST_F(SharedFrames, that_are_gathered_come_out_in_order_with_their_results) {
  const auto network = chain(4);
  for (const std::size_t count : {2u, 3u}) {
    for (const std::vector<std::int64_t>& batches :
         {std::vector<std::int64_t>{1, 4, 4, 1}, {1, 2, 4, 4}, {4, 4, 1, 2}, {8, 8, 8, 8}}) {
      const plan::Plan plan = copies(network, count, batches);
      ASSERT_TRUE(plan::is_first_free(plan));
      Session session = deploy(plan, network, engines_, unpinned);
      std::thread writer([&] {
        for (int i = 0; i < 301; ++i) session.submit(frame(network, static_cast<float>(i)));
        session.finish();
      });
      for (int i = 0; i < 301; ++i) {
        const auto result = session.next();
        ASSERT_TRUE(result);
        EXPECT_EQ(result->frame, i);
        EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(i) + 4);
      }
      EXPECT_FALSE(session.next());
      writer.join();
    }
  }
}

TEST_F(SharedFrames, do_not_wait_for_others_of_their_batch) {
  const auto network = chain(3);
  Session session = deploy(copies(network, 2, {1, 4, 4}), network, engines_, unpinned);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session.submit(frame(network, static_cast<float>(i))));
    EXPECT_EQ(value_of(session.next().value().outputs[0]), static_cast<float>(i) + 3);
  }
}

TEST_F(SharedFrames, wait_for_those_before_them_and_their_latency_says_so) {
  const auto network = chain(1);
  std::latch gate(1);
  hold_first(gate);
  Session session = deploy(copies(network, 2), network, engines_, unpinned);
  submit_until_held(session, network);
  const std::int64_t before = session.statistics()[1].frames;
  ASSERT_TRUE(session.submit(frame(network, 1)));
  while (session.statistics()[1].frames == before) std::this_thread::yield();
  const auto overtaken = std::chrono::steady_clock::now();  // the result is there, but not in turn
  while (std::chrono::steady_clock::now() < overtaken + std::chrono::milliseconds(5))
    std::this_thread::yield();
  gate.count_down();
  ASSERT_TRUE(session.next());
  EXPECT_GE(session.next().value().latency, Time(std::chrono::milliseconds(5)));
}

TEST(Shared, the_last_frames_are_shared_out) {
  EventCount event_count;
  Counter submitted(event_count);
  Shared shared(100, 2, Waiting({}, &event_count));
  submitted.raise(9);
  EXPECT_EQ(shared.claim(submitted.read(), 4)->count, 4);
  submitted.finish();
  EXPECT_EQ(shared.claim(submitted.read(), 4)->count, 3);
  const auto last = shared.claim(submitted.read(), 4);
  EXPECT_EQ(last->first, 7);
  EXPECT_EQ(last->count, 1);
  EXPECT_EQ(shared.claim(submitted.read(), 4)->count, 1);
  EXPECT_FALSE(shared.claim(submitted.read(), 4));
}

TEST_F(SharedFrames, go_past_a_replica_that_is_held_up) {
  const auto network = chain(2);
  std::latch gate(1);
  hold_first(gate);
  Session session = deploy(copies(network, 2), network, engines_, unpinned);
  const auto depth = static_cast<int>(session.frame_counts().depth);
  ASSERT_EQ(depth, 6);
  const int held = submit_until_held(session, network), end = held + depth;
  for (int i = held + 1; i < end; ++i) {
    ASSERT_TRUE(session.submit(frame(network, static_cast<float>(i))));
    while (session.statistics()[1].frames < i) std::this_thread::yield();  // in turns: half of them
  }
  auto one_more = std::async(std::launch::async, [&] {
    return session.submit_unless_result(frame(network, static_cast<float>(end)));
  });
  EXPECT_EQ(one_more.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  gate.count_down();
  EXPECT_FALSE(one_more.get()) << "no slot is free before the first is taken";
  session.finish();
  for (int i = held; i < end; ++i)
    EXPECT_EQ(value_of(session.next().value().outputs[0]), static_cast<float>(i) + 2);
  EXPECT_FALSE(session.next());
}

TEST_F(SharedFrames, need_copies_of_the_whole_network) {
  const auto network = chain(2);
  EXPECT_FALSE(plan::is_first_free(plan_of(network, {0, 0})));
  EXPECT_FALSE(plan::is_first_free(plan_of(network, {0, 1})));
  plan::BuildOptions options{.engine = "engine", .capacity = 3};
  options.replicas[ProcessorId(0)].emplace_back(2);
  const auto part = plan::build(network, test::imagined_board(6), test::mapping({0, 1}), options);
  EXPECT_FALSE(plan::is_first_free(part));
}

}  // namespace
}  // namespace millrace::runtime
