#include "runtime/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::chain;
using test::frame;
using test::SessionTest;
using test::Sketch;
using test::value_of;

// Order and end.

TEST_F(SessionTest, results_come_in_the_order_of_submission) {
  const auto network = chain(5);
  Session session = start(network, {0, 1, 2, 0, 1});
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i)
      EXPECT_TRUE(session.submit(frame(network, static_cast<float>(i))));
    session.finish();
  });
  std::int64_t taken = 0;
  while (const auto result = session.next()) {
    EXPECT_EQ(result->frame, taken);
    EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(taken + 5));
    ++taken;
  }
  writer.join();
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(session.life(), Life::stopped);
}

TEST_F(SessionTest, one_thread_can_fill_the_pipeline_and_take_results_in_turn) {
  const auto network = chain(4);
  Session session = start(network, {0, 1, 0, 2});
  int submitted = 0, taken = 0;
  while (taken < 50) {
    while (submitted < 50 &&
           session.submit_unless_result(frame(network, static_cast<float>(submitted))))
      ++submitted;
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(taken + 4));
    ++taken;
  }
}

// Phases are behind each other, but only as long as there are other frames to work on.
TEST_F(SessionTest, a_frame_alone_arrives_without_another_behind_it) {
  const auto network = chain(8);
  Session session = start(network, {0, 1, 0, 2, 1, 0, 2, 0});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(session.submit(frame(network, static_cast<float>(i))));
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(i + 8));
  }
}

TEST_F(SessionTest, as_many_frames_as_its_depth_are_taken_without_a_call_of_next) {
  const auto network = chain(3);
  Session session = start(network, {0, 1, 2});
  ASSERT_GE(session.frame_counts().depth, 1);
  for (int round = 0; round < 20; ++round) {
    for (std::int64_t i = 0; i < session.frame_counts().depth; ++i)
      EXPECT_TRUE(session.submit(frame(network, 1)));
    for (std::int64_t i = 0; i < session.frame_counts().depth; ++i) EXPECT_TRUE(session.next());
  }
}

TEST_F(SessionTest, submit_unless_result_is_false_when_the_pipeline_is_full) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  int taken = 0;
  while (session.submit_unless_result(frame(network, 0)) && taken < 1000) ++taken;
  EXPECT_GE(taken, session.frame_counts().depth);
  EXPECT_LT(taken, 1000);
}

TEST_F(SessionTest, after_finish_the_frames_on_their_way_arrive_and_no_other_is_taken) {
  const auto network = chain(3);
  Session session = start(network, {0, 1, 0});
  for (int i = 0; i < 2; ++i) session.submit(frame(network, 0));
  session.finish();
  EXPECT_EQ(session.life(), Life::draining);
  EXPECT_FALSE(session.submit(frame(network, 0)));
  EXPECT_TRUE(session.next());
  EXPECT_TRUE(session.next());
  EXPECT_FALSE(session.next());
  EXPECT_FALSE(session.next());
  EXPECT_EQ(session.life(), Life::stopped);
}

TEST_F(SessionTest, finish_without_frames_ends_at_once) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  session.finish();
  EXPECT_FALSE(session.next());
}

TEST_F(SessionTest, stop_ends_a_waiting_submit_and_a_waiting_next) {
  const auto network = chain(2);
  for (int round = 0; round < 50; ++round) {
    Session full = start(network, {0, 1});
    Session empty = start(network, {0, 1});
    std::thread writer([&] {
      while (full.submit(frame(network, 0))) {
      }
    });
    std::thread reader([&] { EXPECT_FALSE(empty.next()); });
    full.stop();
    empty.stop();
    writer.join();
    reader.join();
    EXPECT_EQ(full.life(), Life::stopped);
  }
}

TEST_F(SessionTest, can_be_destroyed_in_the_middle_of_its_work) {
  const auto network = chain(6);
  for (int round = 0; round < 50; ++round) {
    Session session = start(network, {0, 1, 2, 3, 1, 0});
    for (int i = 0; i < round % 5; ++i) session.submit_unless_result(frame(network, 0));
    if (round % 3 == 0) session.finish();
  }
}

TEST_F(SessionTest, can_be_moved_and_replaced_while_it_runs) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  session.submit(frame(network, 1));
  Session moved = std::move(session);
  EXPECT_EQ(value_of(moved.next()->outputs[0]), 3);
  moved = start(network, {1, 0});
  moved.submit(frame(network, 2));
  EXPECT_EQ(value_of(moved.next()->outputs[0]), 4);
}

// Shapes of networks.

TEST_F(SessionTest, a_result_can_be_an_input_or_a_constant_and_can_be_there_twice) {
  Sketch sketch;
  const TensorId x = sketch.input("x"), unused = sketch.input("unused");
  const TensorId two = sketch.constant("two", 2);
  const TensorId sum = sketch.add("sum", x, two);
  const TensorId more = sketch.add("more", sum, two);
  sketch.network.outputs = {more, x, two, sum, more, x};
  ASSERT_TRUE(unused.valid());
  Session session = start(sketch.network, {0, 1});
  for (int i = 0; i < 10; ++i) {
    const auto value = static_cast<float>(i);
    ASSERT_TRUE(session.submit(frame(sketch.network, value)));
    const auto result = session.next();
    ASSERT_TRUE(result);
    std::vector<float> found;
    for (const auto& output : result->outputs) found.push_back(value_of(output));
    EXPECT_EQ(found, (std::vector<float>{value + 4, value, 2, value + 2, value + 4, value}));
  }
}

TEST_F(SessionTest, a_network_without_layers_returns_its_input) {
  Sketch sketch;
  sketch.network.outputs = {sketch.input("x")};
  Session session = start(sketch.network, {});
  session.submit(frame(sketch.network, 7));
  session.finish();
  EXPECT_EQ(value_of(session.next()->outputs[0]), 7);
  EXPECT_FALSE(session.next());
}

TEST_F(SessionTest, layers_that_read_only_constants_run_once_per_frame) {
  Sketch sketch;
  const TensorId x = sketch.input("x"), one = sketch.constant("one", 1);
  const TensorId two = sketch.add("two", one, one);
  const TensorId alone = sketch.add("alone", one, one);
  const TensorId sum = sketch.add("sum", x, two);
  sketch.network.outputs = {sum, alone};
  Session session = start(sketch.network, {0, 2, 1});
  for (int i = 0; i < 10; ++i) {
    session.submit(frame(sketch.network, 5));
    const auto result = session.next();
    EXPECT_EQ(value_of(result->outputs[0]), 7);
    EXPECT_EQ(value_of(result->outputs[1]), 2);
  }
  session.finish();
  EXPECT_FALSE(session.next());
  session.stop();
  for (const StageStatistics& stage : session.statistics()) EXPECT_EQ(stage.frames, 10);
}

TEST_F(SessionTest, a_tensor_may_have_readers_on_many_stages) {
  Sketch sketch;
  const TensorId x = sketch.input("x");
  const TensorId a = sketch.add("a", x, x);
  const TensorId b = sketch.add("b", a, x);
  const TensorId c = sketch.add("c", a, b);
  const TensorId d = sketch.add("d", a, c);
  sketch.network.outputs = {d, a};
  Session session = start(sketch.network, {0, 1, 2, 0});
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i);
    session.submit(frame(sketch.network, value));
    const auto result = session.next();
    EXPECT_EQ(value_of(result->outputs[0]), 7 * value);
    EXPECT_EQ(value_of(result->outputs[1]), 2 * value);
  }
}

// Memory.

TEST_F(SessionTest, an_engines_own_layout_is_used_within_it_and_not_towards_others) {
  decorate({.before_prepare = {}, .before_run = {}, .format = "inverted"});
  test::DecoratedEngine other(*reference_, {.before_prepare = {}, .before_run = {}, .format = "b"});
  engines_["other"] = &other;
  const auto network = chain(6);
  auto plan = plan_of(network, {0, 1, 2, 3, 3, 0});
  plan.stages[2].engine = "other";
  Session session = deploy(plan, network, engines_, unpinned);
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>(i);
    session.submit(frame(network, value));
    EXPECT_EQ(value_of(session.next()->outputs[0]), value + 6);
  }
}

// Pauses.

TEST_F(SessionTest, a_paused_session_works_on_nothing_and_loses_nothing) {
  std::atomic<int> runs{0}, running{0};
  decorate({.before_prepare = {},
            .before_run =
                [&](const engine::SubnetRequest&) {
                  ++runs;
                  ++running;
                  std::this_thread::yield();
                  --running;
                },
            .format = {}});
  const auto network = chain(3);
  Session session = start(network, {0, 1, 2});
  int submitted = 0, taken = 0;
  for (int round = 0; round < 50; ++round) {
    while (submitted - taken < session.frame_counts().depth)
      session.submit(frame(network, static_cast<float>(submitted++)));
    session.pause();
    EXPECT_EQ(running, 0);
    const int before = runs;
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
    EXPECT_EQ(runs, before);
    session.resume();
    EXPECT_EQ(value_of(session.next()->outputs[0]), static_cast<float>(taken++ + 3));
  }
  session.finish();
  while (const auto result = session.next()) EXPECT_EQ(result->frame, taken++);
  EXPECT_EQ(taken, submitted);
}

TEST_F(SessionTest, a_paused_session_can_be_stopped) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  session.pause();
  session.submit(frame(network, 1));
  session.stop();
  EXPECT_EQ(session.life(), Life::stopped);
  EXPECT_FALSE(session.next());
}

TEST_F(SessionTest, a_pause_is_in_no_latency) {
  const auto network = chain(2);
  Session session = start(network, {0, 1});
  const auto wait = [](std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  };
  session.pause();
  const auto begin = std::chrono::steady_clock::now();
  session.submit(frame(network, 1));
  wait(20ms);
  const Time paused = std::chrono::steady_clock::now() - begin;
  session.resume();
  const auto result = session.next();
  EXPECT_LE(result->latency, std::chrono::steady_clock::now() - begin - paused);
  // No pause is taken off for a frame whose result was there before.
  session.submit(frame(network, 1));
  while (session.statistics()[1].frames < 2) std::this_thread::yield();
  session.pause();
  wait(1ms);
  session.resume();
  EXPECT_GT(session.next()->latency, Time{});
}

// Statistics.

TEST_F(SessionTest, statistics_count_frames_and_divide_time_into_busy_and_waiting) {
  decorate({.before_prepare = {},
            .before_run =
                [](const engine::SubnetRequest&) {
                  const auto end = std::chrono::steady_clock::now() + 1ms;
                  while (std::chrono::steady_clock::now() < end) {
                  }
                },
            .format = {}});
  const auto network = chain(2);
  const auto begin = std::chrono::steady_clock::now();
  Session session = start(network, {0, 1});
  for (int i = 0; i < 5; ++i) {
    session.submit(frame(network, 0));
    const auto result = session.next();
    EXPECT_GE(result->latency, Time(2ms));
  }
  session.stop();
  const Time whole = std::chrono::steady_clock::now() - begin;
  const auto statistics = session.statistics();
  ASSERT_EQ(statistics.size(), 2u);
  for (const StageStatistics& stage : statistics) {
    EXPECT_EQ(stage.frames, 5);
    EXPECT_GE(stage.busy, Time(5ms));
    EXPECT_GT(stage.waiting, Time(0));
    EXPECT_LE(stage.busy + stage.waiting, whole);
  }
  EXPECT_EQ(statistics[0].name, "stage0");
}

TEST_F(SessionTest, latency_ends_when_the_result_is_ready_and_not_when_it_is_taken) {
  const auto network = chain(1);
  Session session = start(network, {0});
  const auto begin = std::chrono::steady_clock::now();
  session.submit(frame(network, 0));
  while (session.statistics()[0].frames == 0) std::this_thread::yield();
  const auto ready = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < ready + 5ms) std::this_thread::yield();
  const auto result = session.next();
  EXPECT_GT(result->latency, Time(0));
  EXPECT_LE(result->latency, Time(ready - begin));
}

}  // namespace
}  // namespace millrace::runtime
