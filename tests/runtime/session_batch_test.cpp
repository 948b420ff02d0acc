// Phases that gather frames: who waits for whom, and what happens at a stream's end.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "runtime/session.h"
#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using test::chain;
using test::frame;
using test::value_of;

class SessionBatchTest : public test::SessionTest {
 protected:
  /// Counts the runs of the phase that begins with layer 1, and keeps layer 0 from its first frame
  /// until `gate` opens.
  void count_runs(std::latch& gate) {
    decorate({.before_prepare = {},
              .before_run =
                  [this, &gate](const engine::SubnetRequest& request) {
                    if (request.layers[0] == LayerId(0)) gate.wait();
                    if (request.layers[0] == LayerId(1)) ++runs_;
                  },
              .format = {}});
  }
  static void take(Session& session, int frames, float added) {
    for (int i = 0; i < frames; ++i) {
      const auto result = session.next();
      ASSERT_TRUE(result);
      EXPECT_EQ(result->frame, i);
      EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(i) + added);
    }
  }
  static void submit(Session& session, const network::Network& network, int frames) {
    for (int i = 0; i < frames; ++i)
      ASSERT_TRUE(session.submit(frame(network, static_cast<float>(i))));
  }

  std::atomic<int> runs_ = 0;
};

TEST_F(SessionBatchTest, a_full_batch_is_one_run_and_the_rest_of_a_stream_another) {
  const auto network = chain(3);
  for (const int frames : {4, 5}) {
    runs_ = 0;
    std::latch gate(1);
    count_runs(gate);
    Session session = start(network, {0, 0, 0}, {1, 4, 4});
    submit(session, network, frames);  // all are on their way before the first moves on
    gate.count_down();
    session.finish();
    take(session, frames, 3);
    EXPECT_FALSE(session.next());
    EXPECT_EQ(runs_, frames == 4 ? 1 : 2);
    session.stop();  // so that the stage's numbers are complete
    EXPECT_EQ(session.statistics()[0].frames, frames);
  }
}

// A batch's results come all at once: until then the first stage needs frames.
TEST_F(SessionBatchTest, one_thread_keeps_the_first_stage_at_work_while_a_batch_is_held) {
  std::latch gate(1);
  decorate({.before_prepare = {},
            .before_run =
                [&gate](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(1)) gate.wait();
                },
            .format = {}});
  const auto network = chain(2);
  const plan::Plan plan = plan_of(network, {0, 1}, {1, 4});
  std::int64_t room = 0;  // in front of the first stage and behind it
  for (const plan::Channel& wire : plan.channels)
    if (!wire.to.is_outside()) room += wire.capacity;
  Session session = deploy(plan, network, engines_, unpinned);
  for (std::int64_t i = 0; i < room; ++i)
    ASSERT_TRUE(session.submit_unless_result(frame(network, static_cast<float>(i)))) << i;
  EXPECT_GT(room, session.frame_counts().depth);
  gate.count_down();
  take(session, static_cast<int>(room), 2);
}

// Batches begin and end with cycles, so the first holds the offset.
TEST_F(SessionBatchTest, with_a_lag_the_first_batch_has_so_many_frames_less) {
  std::latch gate(1);
  count_runs(gate);
  const auto network = chain(3);
  Session session = start(network, {0, 1, 1}, {1, 4, 4});
  submit(session, network, 5);
  gate.count_down();
  take(session, 5, 3);
  EXPECT_EQ(runs_, 3);  // of 3, and of 2 one by one
}

// A subnet for several frames takes the time of all of them.
TEST_F(SessionBatchTest, few_frames_run_one_by_one) {
  for (const int frames : {1, 2, 3}) {
    runs_ = 0;
    std::latch gate(1);
    count_runs(gate);
    const auto network = chain(3);
    Session session = start(network, {0, 0, 0}, {1, 4, 4});
    submit(session, network, frames);
    gate.count_down();
    take(session, frames, 3);
    EXPECT_EQ(runs_, frames <= 2 ? frames : 1);
  }
}

TEST_F(SessionBatchTest, a_frame_alone_does_not_wait_for_others) {
  std::latch gate(0);
  count_runs(gate);
  const auto network = chain(4);
  Session session = start(network, {0, 1, 1, 0}, {1, 8, 8, 1});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session.submit(frame(network, static_cast<float>(i))));
    const auto result = session.next();
    ASSERT_TRUE(result);
    EXPECT_EQ(value_of(result->outputs[0]), static_cast<float>(i + 4));
  }
  EXPECT_EQ(runs_, 20);
}

TEST_F(SessionBatchTest, as_many_frames_as_were_submitted_run_without_finish) {
  std::latch gate(1);
  count_runs(gate);
  const auto network = chain(3);
  Session session = start(network, {0, 1, 1}, {1, 4, 4});
  submit(session, network, 3);
  gate.count_down();
  take(session, 3, 3);
  EXPECT_EQ(runs_, 1);
}

TEST_F(SessionBatchTest, a_whole_network_may_be_one_batch) {
  const auto network = chain(2);
  Session session = start(network, {0, 0}, {4, 4});
  std::thread writer([&] {
    submit(session, network, 30);
    session.finish();
  });
  take(session, 30, 2);
  EXPECT_FALSE(session.next());
  writer.join();
}

TEST_F(SessionBatchTest, an_error_in_a_batch_reaches_the_caller) {
  decorate({.before_prepare = {},
            .before_run =
                [](const engine::SubnetRequest& request) {
                  if (request.layers[0] == LayerId(1)) throw std::runtime_error("device lost");
                },
            .format = {}});
  const auto network = chain(2);
  Session session = start(network, {0, 1}, {1, 4});
  submit(session, network, 1);
  std::string message;
  try {
    session.next();
  } catch (const EngineError& error) {
    message = error.what();
  }
  EXPECT_EQ(message, "stage1 on p1: device lost");
}

TEST_F(SessionBatchTest, a_session_that_is_stopped_while_frames_gather_ends) {
  std::latch gate(1);
  decorate({.before_prepare = {},
            .before_run =
                [&, count = 0](const engine::SubnetRequest& request) mutable {
                  if (request.layers[0] == LayerId(0) && ++count == 3) gate.wait();
                },
            .format = {}});
  const auto network = chain(2);
  Session session = start(network, {0, 1}, {1, 4});
  submit(session, network, 4);  // two arrive, the third is held
  std::thread stopper([&] { session.stop(); });
  while (session.life() == Life::running) std::this_thread::yield();
  gate.count_down();
  stopper.join();
  EXPECT_FALSE(session.next());
}

TEST_F(SessionBatchTest, around_a_batch_tensors_are_plain) {
  decorate({.before_prepare = {}, .before_run = {}, .format = "inverted"});
  const auto network = chain(5);
  Session session = start(network, {0, 0, 0, 1, 1}, {1, 2, 1, 4, 4});
  std::thread writer([&] { submit(session, network, 20); });
  take(session, 20, 5);
  writer.join();
}

}  // namespace
}  // namespace millrace::runtime
