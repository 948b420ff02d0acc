// Sessions for deadlines: priorities, times on a core, results where they lie.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstring>

#include "network/random_values.h"
#include "runtime/scheduling/host.h"
#include "runtime/scheduling/thread_priority.h"
#include "runtime/session_fixture.h"
#include "support/message_of.h"

namespace millrace::runtime {
namespace {

using test::chain;

class SessionPriorityTest : public test::SessionTest {
 protected:
  SessionOptions with_priorities(std::vector<int> priorities) {
    SessionOptions options = unpinned;
    options.priorities = std::move(priorities);
    return options;
  }
  /// Notes the priority of the thread that runs a subnet, by the number of its processor.
  void note_priorities() {
    decorate({.before_prepare = {},
              .before_run =
                  [this](const engine::SubnetRequest& request) {
                    sched_param now{};
                    sched_getparam(0, &now);
                    const auto processor = request.processor.name.back() - '0';
                    seen_[static_cast<std::size_t>(processor)] = now.sched_priority;
                  },
              .format = {}});
  }
  std::atomic<int> seen_[2] = {0, 0};
};

TEST_F(SessionPriorityTest, each_stage_has_the_priority_that_it_is_given) {
  if (const Verdict may = may_have_priority(7); !may) GTEST_SKIP() << may.reason();
  note_priorities();
  const auto network = chain(2);
  Session session = deploy(plan_of(network, {0, 1}), network, engines_, with_priorities({7, 3}));
  session.submit(test::frame(network, 1));
  ASSERT_TRUE(session.next());
  EXPECT_TRUE(session.has_priorities());
  EXPECT_EQ(seen_[0], 7);
  EXPECT_EQ(seen_[1], 3);
}

TEST_F(SessionPriorityTest, one_priority_is_that_of_all_stages) {
  if (const Verdict may = may_have_priority(4); !may) GTEST_SKIP() << may.reason();
  note_priorities();
  const auto network = chain(2);
  Session session = deploy(plan_of(network, {0, 1}), network, engines_, with_priorities({4}));
  session.submit(test::frame(network, 1));
  ASSERT_TRUE(session.next());
  EXPECT_EQ(seen_[0], 4);
  EXPECT_EQ(seen_[1], 4);
}

TEST_F(SessionPriorityTest, priorities_that_do_not_fit_are_refused) {
  const auto network = chain(2);
  const auto refused = [&](std::vector<int> priorities) {
    return test::message_of([&] {
      deploy(plan_of(network, {0, 1}), network, engines_, with_priorities(priorities));
    });
  };
  EXPECT_EQ(refused({1, 2, 3}), "priorities: found 3, expected one, or one for each of 2 stages");
  EXPECT_EQ(refused({0, 5}), "priorities: found 0 to 5, expected 1 to 99");
  EXPECT_EQ(refused({5, 100}), "priorities: found 5 to 100, expected 1 to 99");
}

TEST_F(SessionPriorityTest, results_are_read_where_they_lie) {
  const auto network = chain(3);
  Session session = start(network, {0, 1, 0});
  for (int i = 0; i < 5; ++i) {
    session.submit(test::frame(network, static_cast<float>(i)));
    float value = 0;
    ASSERT_TRUE(session.next_in_place([&](std::span<const std::span<const std::byte>> outputs) {
      ASSERT_EQ(outputs.size(), 1u);
      ASSERT_EQ(outputs[0].size(), 6 * sizeof(float));
      std::memcpy(&value, outputs[0].data(), sizeof value);
    }));
    EXPECT_EQ(value, static_cast<float>(i) + 3);
  }
  session.finish();
  EXPECT_FALSE(session.next_in_place([](auto) {}));
}

TEST_F(SessionPriorityTest, a_result_that_cannot_be_used_stays) {
  const auto network = chain(1);
  Session session = start(network, {0});
  session.submit(test::frame(network, 1));
  EXPECT_THROW(session.next_in_place([](auto) { throw InputError("there", "no"); }), InputError);
  EXPECT_TRUE(session.next());
}

TEST_F(SessionPriorityTest, times_on_a_core_are_taken_by_phase_and_forgotten) {
  SessionOptions options = unpinned;
  options.core_times = true;
  const auto network = chain(2);
  Session session = deploy(plan_of(network, {0, 1}), network, engines_, options);
  for (int i = 0; i < 4; ++i) {
    session.submit(test::frame(network, 1));
    ASSERT_TRUE(session.next());
  }
  const auto times = session.times_of_phases();
  ASSERT_EQ(times.size(), 2u);
  for (const auto& stage : times) {
    ASSERT_EQ(stage.size(), 1u);
    EXPECT_EQ(stage[0].runs, 4);
    EXPECT_GT(stage[0].sum, Time{});
    EXPECT_LE(stage[0].largest, stage[0].sum);
    EXPECT_GE(4 * stage[0].largest, stage[0].sum);
  }
  session.forget_times();
  EXPECT_EQ(session.times_of_phases()[0][0].runs, 0);
}

TEST(Host, throttling_is_a_share_below_one) {
  const auto throttling = real_time_throttling();
  if (!throttling) GTEST_SKIP() << "this system does not throttle";
  EXPECT_GT(throttling->share(), 0);
  EXPECT_LT(throttling->share(), 1);
}

TEST(Host, memory_of_this_process_is_known) { EXPECT_GT(resident_memory().count, 1 << 20); }

TEST(ThreadPriority, a_guard_gives_back_what_was) {
  if (const Verdict may = may_have_priority(2); !may) GTEST_SKIP() << may.reason();
  {
    const PriorityGuard guard(2);
    EXPECT_EQ(sched_getscheduler(0), SCHED_FIFO);
  }
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  { const PriorityGuard none(0); }
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

}  // namespace
}  // namespace millrace::runtime
