#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "runtime/session_fixture.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::chain;
using test::frame;

class SessionTraceTest : public test::SessionTest {
 protected:
  Session traced(const network::Network& network, const std::vector<std::size_t>& processors,
                 std::int64_t frames, const std::vector<std::int64_t>& batches = {}) {
    SessionOptions options = unpinned;
    options.trace_frames = frames;
    return deploy(plan_of(network, processors, batches), network, engines_, options);
  }
};

void pass(Session& session, const network::Network& network, int frames) {
  int submitted = 0;
  for (int taken = 0; taken < frames; ++taken) {
    while (submitted < frames && session.submit_unless_result(frame(network, 1))) ++submitted;
    ASSERT_TRUE(session.next());
  }
}

/// How often each stage's phase worked on each frame.
std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, int> visits(const Trace& trace) {
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, int> result;
  for (const TraceFiring& firing : trace.firings)
    for (std::int64_t i = 0; i < firing.count; ++i)
      ++result[{firing.stage, firing.phase, firing.frame + i}];
  return result;
}

TEST_F(SessionTraceTest, has_every_phase_of_every_frame_once) {
  const auto network = chain(5);
  Session session = traced(network, {0, 1, 0, 2, 1}, 100);
  pass(session, network, 40);
  const Trace trace = session.trace();
  EXPECT_EQ(session.life(), Life::stopped);
  EXPECT_EQ(trace.plans, std::vector<std::string>{network.name});
  ASSERT_EQ(trace.stages.size(), 3u);
  EXPECT_EQ(trace.stages[2].processor, "p2");
  std::set<std::pair<std::size_t, std::size_t>> phases;
  for (const TraceFiring& firing : trace.firings) phases.insert({firing.stage, firing.phase});
  EXPECT_EQ(phases.size(), 5u);
  const auto seen = visits(trace);
  for (const auto& [stage, phase] : phases)
    for (std::int64_t f = 0; f < 40; ++f) EXPECT_EQ(seen.at({stage, phase, f}), 1) << f;
  ASSERT_EQ(trace.frames.size(), 40u);
  for (std::size_t f = 0; f < 40; ++f)
    EXPECT_EQ(trace.frames[f].frame, static_cast<std::int64_t>(f));
}

TEST_F(SessionTraceTest, tells_the_order_of_what_happened) {
  const auto network = chain(4);
  test::Decoration slow;
  slow.before_run = [](const engine::SubnetRequest& request) {
    const auto end = Clock::now() + 200us * (1 + request.layers.front().index);
    while (Clock::now() < end) {
    }
  };
  decorate(slow);
  Session session = traced(network, {0, 1, 1, 2}, 50);
  pass(session, network, 20);
  const Trace trace = session.trace();
  std::map<std::size_t, Time> last;  // by stage: phases and waits follow each other
  for (const TraceFiring& firing : trace.firings) {
    EXPECT_GE(firing.begin, last[firing.stage]);
    EXPECT_GE(firing.end - firing.begin, 200us);
    last[firing.stage] = firing.end;
  }
  EXPECT_TRUE(std::ranges::is_sorted(trace.firings, {}, &TraceFiring::end));
  for (const TraceFrame& frame : trace.frames) {
    EXPECT_GE(frame.submitted, Time{});
    EXPECT_GE(frame.completed - frame.submitted, 200us * (1 + 2 + 4));
    for (const TraceFiring& firing : trace.firings) {
      if (firing.frame != frame.frame) continue;
      EXPECT_GE(firing.begin, frame.submitted);
      EXPECT_LE(firing.end, frame.completed);
    }
  }
  EXPECT_FALSE(trace.waits.empty());  // stage0 for stage1, which takes twice as long
  for (const TraceWait& wait : trace.waits) {
    EXPECT_LT(wait.begin, wait.end);
    for (const TraceFiring& firing : trace.firings)
      EXPECT_FALSE(firing.stage == wait.stage && firing.begin < wait.end &&
                   wait.begin < firing.end);
  }
}

TEST_F(SessionTraceTest, keeps_the_last_frames_and_no_more) {
  const auto network = chain(3);
  Session session = traced(network, {0, 1, 0}, 8);
  pass(session, network, 100);
  const Trace trace = session.trace();
  ASSERT_EQ(trace.frames.size(), 8u);
  EXPECT_EQ(trace.frames.front().frame, 92);
  EXPECT_EQ(trace.frames.back().frame, 99);
  EXPECT_EQ(trace.firings.size(), 3u * 8);
  for (const TraceFiring& firing : trace.firings) EXPECT_GE(firing.frame, 92);
}

TEST_F(SessionTraceTest, shows_batches_as_one_piece) {
  const auto network = chain(2);
  Session session = traced(network, {0, 1}, 100, {1, 4});
  pass(session, network, 32);
  const Trace trace = session.trace();
  const auto seen = visits(trace);
  for (std::int64_t f = 0; f < 32; ++f) EXPECT_EQ(seen.at({1, 0, f}), 1);
  EXPECT_TRUE(std::ranges::any_of(trace.firings, [](const auto& f) { return f.count == 4; }));
}

TEST_F(SessionTraceTest, begins_behind_the_last_pause) {
  const auto network = chain(3);
  Session session = traced(network, {0, 1, 0}, 100);
  pass(session, network, 10);
  session.pause();
  session.submit(frame(network, 1));  // which the pause interrupts
  session.resume();
  pass(session, network, 12);  // it comes first, and one is left
  const Trace trace = session.trace();
  ASSERT_EQ(trace.frames.size(), 11u);
  EXPECT_EQ(trace.frames.front().frame, 11);
  for (const TraceFiring& firing : trace.firings) EXPECT_GE(firing.frame, 11);
}

TEST_F(SessionTraceTest, begins_behind_a_pause_that_interrupted_nothing) {
  const auto network = chain(3);
  Session session = traced(network, {0, 1, 0}, 100);
  pass(session, network, 10);
  session.pause();
  session.resume();
  pass(session, network, 12);
  const Trace trace = session.trace();
  ASSERT_EQ(trace.frames.size(), 12u);
  EXPECT_EQ(trace.frames.front().frame, 10);
}

TEST_F(SessionTraceTest, is_empty_if_none_was_asked_for) {
  const auto network = chain(3);
  Session session = start(network, {0, 1, 0});
  pass(session, network, 10);
  const Trace trace = session.trace();
  EXPECT_TRUE(trace.firings.empty());
  EXPECT_TRUE(trace.frames.empty());
  EXPECT_TRUE(trace.waits.empty());
}

TEST_F(SessionTraceTest, ends_a_pipeline_that_is_full) {
  const auto network = chain(4);
  Session session = traced(network, {0, 1, 2, 0}, 10);
  while (session.submit_unless_result(frame(network, 1))) {
  }
  const Trace trace = session.trace();
  EXPECT_TRUE(trace.frames.empty());  // none was taken
  EXPECT_FALSE(session.submit(frame(network, 1)));
}

/// As on a processor of another board.
class CorelessEngine : public test::DecoratedEngine {
 public:
  using DecoratedEngine::DecoratedEngine;
  std::optional<engine::Traits> traits(const board::Processor&) const override {
    engine::Traits traits;
    traits.uses_cores = false;
    return traits;
  }
};

TEST_F(SessionTraceTest, stages_of_an_engine_without_cores_are_bound_to_none) {
  const auto network = chain(2);
  plan::Plan plan = plan_of(network, {0, 1});
  for (plan::Stage& stage : plan.stages) stage.processors[0] = {stage.name, {}, {4000}};
  plan.stages[1].processors[0].cores = {4001};
  EXPECT_THROW(deploy(plan, network, engines_), InputError);
  CorelessEngine coreless(*reference_, {});
  Session session = deploy(plan, network, {{"engine", &coreless}});
  pass(session, network, 5);
}

}  // namespace
}  // namespace millrace::runtime
