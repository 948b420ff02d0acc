#include "runtime/controller/controller.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "deployment/joined.h"
#include "runtime/controller/controlled_system.h"
#include "runtime/controller/script.h"
#include "runtime/decorated_engine.h"
#include "runtime/scheduling/thread_priority.h"
#include "support/message_of.h"
#include "support/room_for_threads.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;
using test::expect_none_lost;
using test::in_scenario;
using test::run;

TEST(Controller, frames_are_due_at_their_rates_and_none_is_lost) {
  ControlledSystem system({{.layers = 2, .fps = 100, .cores = {0, 1}}, {.layers = 1, .fps = 40}});
  const ControllerRecord record = run(system, 500ms);
  expect_none_lost(record);
  ASSERT_EQ(record.groups.size(), 2u);
  const auto due = [&](std::size_t group) {
    return static_cast<double>(record.groups[group].frames.due);
  };
  EXPECT_NEAR(due(0), 100 * seconds(record.elapsed), 6);
  EXPECT_NEAR(due(1), 40 * seconds(record.elapsed), 4);
  EXPECT_GE(record.groups[0].responses.largest(), 2ms);
  EXPECT_GE(record.groups[1].responses.percentile(0.01), 1ms);
}

TEST(Controller, a_frame_whose_group_is_busy_is_skipped) {
  ControlledSystem system({{.layers = 15, .fps = 100}});  // 15 ms every 10 ms
  const ControllerRecord record = run(system, 400ms);
  expect_none_lost(record);
  const schedule::FrameCounts& frames = record.groups[0].frames;
  EXPECT_GE(frames.skipped, frames.due / 3);
  EXPECT_EQ(frames.missed, frames.done);  // each takes longer than its deadline, the period
  EXPECT_EQ(frames.stretched, 0);
}

TEST(Controller, a_frame_whose_group_is_busy_waits_if_periods_may_stretch) {
  ControlledSystem system({{.layers = 15, .fps = 100}});
  system.deployment.system.overload = system::Overload::stretch;
  ControllerOptions options;
  options.keep_responses = 3;
  const ControllerRecord record = run(system, 400ms, options);
  expect_none_lost(record);
  const schedule::FrameCounts& frames = record.groups[0].frames;
  EXPECT_GE(frames.stretched, 3);
  ASSERT_EQ(record.groups[0].kept_responses.size(), 3u);
  EXPECT_GE(record.groups[0].kept_responses[1], 19ms);  // with the 5 that it waited
  EXPECT_GE(record.groups[0].kept_responses[2], 19ms);
  EXPECT_LE(frames.skipped, 1);  // the one that waits at the end
}

TEST(Controller, with_a_deadline_of_two_periods_two_frames_are_on_their_way) {
  // Two stages of 24 ms each: every 40 ms one frame goes through both in 48 ms. The other 32 are
  // more than the system takes of a core at once for threads without priority.
  std::vector<std::size_t> cores(48, 0);
  std::fill(cores.begin() + 24, cores.end(), 1);
  ControlledSystem system({{.layers = 48, .fps = 25, .cores = cores, .deadline = 80ms}});
  if (board::cores_of_this_thread().size() < 2) GTEST_SKIP() << "this machine has one core";
  const ControllerRecord record = run(system, 2s);
  expect_none_lost(record);
  EXPECT_LE(record.groups[0].frames.skipped, record.groups[0].frames.due / 10);
}

TEST(Controller, overload_lowers_the_level_until_it_fits_and_calm_raises_it_again) {
  // At the highest of three levels 15 ms are due every 10 ms, at the lowest every 50.
  ControlledSystem system({{.layers = 15, .fps = 100, .least_fps = 20}});
  system.deployment.system.levels = 3;
  system.deployment.system.overload = system::Overload::lower_rate;
  const ControllerRecord record = run(system, 1500ms);
  expect_none_lost(record);
  EXPECT_GE(record.transitions.level_changes, 2);
  std::set<std::int64_t> levels;
  for (const OperationRecord& each : record.groups[0].operations) levels.insert(each.at.level);
  EXPECT_TRUE(levels.contains(2));
  EXPECT_TRUE(levels.contains(1));
}

TEST(Controller, a_scenario_that_follows_releases_its_own_groups_alone) {
  ControlledSystem system({{.layers = 1, .fps = 100}, {.layers = 1, .fps = 100}});
  system.add_scenario("first", {0});
  system.add_scenario("second", {1});
  system.add_scenario("none", {});
  Controller controller(system.deployment, system.board, system.to_run());
  controller.start(in_scenario(1));
  const deployment::Script script{{100ms, in_scenario(2)}, {200ms, in_scenario(3)}};
  play(controller, script, 300ms);
  const ControllerRecord record = controller.stop();
  expect_none_lost(record);
  EXPECT_EQ(record.transitions.wished, 2);
  EXPECT_EQ(record.transitions.done + record.transitions.replaced, 2);
  for (std::size_t group : {0u, 1u}) {
    ASSERT_EQ(record.groups[group].operations.size(), 1u);
    EXPECT_EQ(record.groups[group].operations[0].at.scenario.index, group + 1);
    EXPECT_NEAR(static_cast<double>(record.groups[group].frames.due), 10, 4);
  }
}

/// One that runs, and another that is added to it.
struct Addition {
  Addition() {
    second.deployment.system.groups[0].name = "new";
    joined = deployment::joined(first.deployment, second.deployment);
    controller.start(in_scenario(0));
  }
  ControlledSystem first = ControlledSystem({{.layers = 1, .fps = 100}});
  ControlledSystem second = ControlledSystem({{.layers = 1, .fps = 50}});
  deployment::Deployment joined;
  Controller controller{first.deployment, first.board, first.to_run()};
  PlayHooks hooks;
};

TEST(Controller, groups_are_added_while_others_run) {
  Addition a;
  a.hooks.add = [&](const deployment::ScriptStep& step) {
    EXPECT_EQ(step.add, "new.json");
    a.controller.add(a.joined, a.second.to_run());
  };
  play(a.controller, {{200ms, in_scenario(0), "new.json"}, {400ms, in_scenario(0)}}, 700ms,
       a.hooks);
  const ControllerRecord record = a.controller.stop();
  expect_none_lost(record);
  ASSERT_EQ(record.groups.size(), 2u);
  EXPECT_EQ(record.groups[1].name, "new");
  EXPECT_EQ(record.transitions.extensions, 1);
  EXPECT_EQ(record.transitions.wished, 1);
  EXPECT_EQ(record.transitions.done + record.transitions.replaced, 2);
  EXPECT_GT(record.groups[0].frames.done, 40);  // of 70
  EXPECT_GT(record.groups[1].frames.done, 5);   // of 25 and less
  EXPECT_LT(record.groups[1].frames.due, 28);
}

TEST(Controller, an_addition_that_fails_ends_the_play_and_leaves_the_others) {
  Addition a;
  a.hooks.add = [&](const deployment::ScriptStep&) {
    auto groups = a.second.to_run();
    groups[0].engines.clear();
    a.controller.add(a.joined, std::move(groups));
  };
  EXPECT_NE(test::message_of([&] {
              play(a.controller, {{50ms, in_scenario(0), "new.json"}}, 10s, a.hooks);
            }),
            "");
  const ControllerRecord record = a.controller.stop();
  expect_none_lost(record);
  EXPECT_EQ(record.groups.size(), 1u);
}

TEST(Controller, a_transition_waits_for_the_frames_on_their_way_and_no_longer) {
  ControlledSystem system({{.layers = 20, .fps = 20}, {.layers = 1, .fps = 100}});
  system.add_scenario("slow", {0});
  system.add_scenario("fast", {1});
  auto groups = system.to_run();
  std::atomic<Controller*> asked{nullptr};
  // The first frame that counts wishes for the other scenario, 20 ms before it is done.
  groups[0].preprocess = [&](auto) {
    if (Controller* controller = asked.exchange(nullptr)) controller->switch_to(in_scenario(2));
  };
  Controller controller(system.deployment, system.board, std::move(groups));
  asked = &controller;
  controller.start(in_scenario(1));
  play(controller, {}, 250ms);
  const ControllerRecord record = controller.stop();
  expect_none_lost(record);
  EXPECT_EQ(record.groups[0].frames.done, 1);
  EXPECT_EQ(record.transitions.done, 1);
  EXPECT_GE(record.transitions.longest, 20ms);
  EXPECT_LE(record.transitions.longest_bound, 50ms);
  EXPECT_GT(record.groups[1].frames.done, 0);
}

TEST(Controller, a_random_drive_loses_no_frame) {
  ControlledSystem system({{.layers = 2, .fps = 100, .cores = {0, 1}, .least_fps = 50},
                           {.layers = 2, .fps = 60, .cores = {1, 0}, .least_fps = 20},
                           {.layers = 3, .fps = 30, .cores = {0, 1, 0}, .least_fps = 10}});
  system.deployment.system.levels = 3;
  system.add_scenario("first", {0, 2});
  system.add_scenario("second", {1});
  system.add_scenario("none", {});
  const deployment::Script script =
      deployment::random_script(system.deployment.system, {1500ms, 60, 7});
  Controller controller(system.deployment, system.board, system.to_run());
  controller.start(script.front().wanted);
  play(controller, script, 1500ms);
  const ControllerRecord record = controller.stop();
  expect_none_lost(record);
  EXPECT_EQ(record.transitions.wished, 61);
  EXPECT_LE(record.transitions.done + record.transitions.replaced, 61);
  EXPECT_GE(record.transitions.done + record.transitions.replaced, 60);
  EXPECT_GT(record.groups[0].frames.done, 0);
}

TEST(Controller, steps_run_where_and_as_the_assignment_says) {
  if (const Verdict may = may_have_priority(20); !may) GTEST_SKIP() << may.reason();
  ControlledSystem system({{.layers = 1, .fps = 100, .cores = {0}}, {.layers = 1, .fps = 100}});
  system.add_step(0, deployment::Step::preprocess, 1, 1ms);
  system.add_step(0, deployment::Step::postprocess, 1, 1ms);
  struct Seen {
    std::atomic<int> priority{0}, core{-1};
    std::atomic<std::int64_t> calls{0};
    void note() {
      sched_param now{};
      sched_getparam(0, &now);
      priority = now.sched_priority;
      core = sched_getcpu();
      ++calls;
    }
  } before, after;
  auto groups = system.to_run();
  groups[0].preprocess = [&](auto) { before.note(); };
  groups[0].postprocess = [&](auto) { after.note(); };
  Controller controller(system.deployment, system.board, std::move(groups));
  controller.start(in_scenario(0));
  play(controller, {}, 200ms);
  const ControllerRecord record = controller.stop();
  expect_none_lost(record);
  const std::vector<int> priorities = fifo_priorities(system.deployment);
  for (const Seen* seen : {&before, &after}) {
    EXPECT_EQ(seen->priority, priorities[0]);
    EXPECT_EQ(seen->core, system.board.processors[1].cores[0]);
    EXPECT_GT(seen->calls, record.groups[0].frames.done);  // and those of the warm-up
  }
  EXPECT_LT(priorities[0], priorities[1]);
  EXPECT_LT(priorities[1], priorities.back());
  ASSERT_EQ(record.groups[0].tasks.size(), 3u);
  EXPECT_EQ(record.groups[0].tasks[0].times.runs, record.groups[0].frames.done);
}

TEST(Controller, a_step_that_the_caller_lacks_takes_its_worst_time) {
  ControlledSystem system({{.layers = 1, .fps = 50}});
  system.add_step(0, deployment::Step::preprocess, 0, 3ms);
  const ControllerRecord record = run(system, 200ms);
  ASSERT_EQ(record.groups[0].tasks.size(), 2u);
  EXPECT_EQ(record.groups[0].tasks[0].name, "pre");
  EXPECT_GE(record.groups[0].tasks[0].times.largest, 3ms);
  EXPECT_GE(record.groups[0].responses.percentile(0.01), 4ms);
}

TEST(Controller, a_stage_that_fails_ends_all_groups) {
  ControlledSystem system({{.layers = 1, .fps = 100}, {.layers = 1, .fps = 100}});
  std::atomic<int> runs{0};
  test::DecoratedEngine failing(system.engine(), {.before_prepare = {},
                                                  .before_run =
                                                      [&](const engine::SubnetRequest&) {
                                                        if (++runs == 40)
                                                          throw EngineError("the device is gone");
                                                      },
                                                  .format = {}});
  Controller controller(system.deployment, system.board, system.to_run(&failing));
  controller.start(in_scenario(0));
  play(controller, {}, 20s);
  EXPECT_TRUE(controller.has_failed());
  try {
    controller.stop();
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_NE(std::string(error.what()).find("the device is gone"), std::string::npos);
  }
}

TEST(Controller, a_step_that_throws_ends_all_groups) {
  ControlledSystem system({{.layers = 1, .fps = 100}});
  auto groups = system.to_run();
  std::atomic<int> calls{0};
  groups[0].postprocess = [&](auto) {
    if (++calls == 20) throw InputError("picture", "is upside down");
  };
  Controller controller(system.deployment, system.board, std::move(groups));
  controller.start(in_scenario(0));
  play(controller, {}, 20s);
  EXPECT_EQ(test::message_of([&] { controller.stop(); }), "group 'g0': picture: is upside down");
}

TEST(Controller, ends_without_stop_and_without_start) {
  ControlledSystem system({{.layers = 30, .fps = 30}});
  { const Controller never_started(system.deployment, system.board, system.to_run()); }
  Controller controller(system.deployment, system.board, system.to_run());
  controller.start(in_scenario(0));
  play(controller, {}, 5ms);
}

TEST(Controller, a_scenario_that_is_not_there_is_refused) {
  ControlledSystem system({{.layers = 1, .fps = 50}});
  Controller controller(system.deployment, system.board, system.to_run());
  EXPECT_EQ(test::message_of([&] { controller.switch_to(in_scenario(4)); }),
            "test.yaml: found scenario 4, there are 1");
  EXPECT_EQ(test::message_of([&] { controller.start(in_scenario(0, 1)); }),
            "test.yaml: found level 1, expected 0 to 0");
}

/// A group has two threads, and the release of frames one.
TEST(Controller, ends_if_any_of_its_threads_cannot_be_started) {
  for (const std::size_t threads : {0, 1, 2}) {
    ControlledSystem system({{.layers = 1, .fps = 100}});
    Controller controller(system.deployment, system.board, system.to_run(), {});
    const test::RoomForThreads room(threads);
    EXPECT_THROW(controller.start(in_scenario(0)), std::system_error) << threads;
  }
}

TEST(Controller, tells_while_it_runs_what_its_groups_do) {
  ControlledSystem system({{.layers = 2, .fps = 100, .cores = {0, 1}}, {.layers = 1, .fps = 50}});
  ControllerOptions options;
  options.trace_frames = 100;
  Controller controller(system.deployment, system.board, system.to_run(), options);
  controller.start(in_scenario(0));
  const auto runs = [&](std::size_t group, std::size_t task) {
    return controller.tasks().at(group).tasks.at(task).times.runs;
  };
  while (runs(0, 1) < 8 || runs(1, 0) < 4) std::this_thread::yield();
  const Trace recent = controller.recent(1s);
  EXPECT_EQ(recent.plans, (std::vector<std::string>{"g0", "g1"}));
  ASSERT_EQ(recent.stages.size(), 3u);
  EXPECT_EQ(recent.stages[2].name, "g1 stage0");
  std::array<std::int64_t, 3> firings{};
  for (const TraceFiring& firing : recent.firings) {
    ++firings.at(firing.stage);
    EXPECT_GE(firing.begin, Time{});
    EXPECT_GT(firing.end, firing.begin);
  }
  EXPECT_GE(firings[1], 6);
  EXPECT_GE(firings[2], 3);
  EXPECT_EQ(controller.tasks()[1].group, "g1");
  expect_none_lost(controller.stop());
}

TEST(Controller, a_trace_has_the_stages_of_all_groups) {
  ControlledSystem system({{.layers = 2, .fps = 100, .cores = {0, 1}}, {.layers = 1, .fps = 50}});
  ControllerOptions options;
  options.trace_frames = 100;
  const ControllerRecord record = run(system, 200ms, options);
  EXPECT_EQ(record.trace.plans, (std::vector<std::string>{"g0", "g1"}));
  ASSERT_EQ(record.trace.stages.size(), 3u);
  EXPECT_EQ(record.trace.stages[2].name, "g1 stage0");
  EXPECT_EQ(static_cast<std::int64_t>(record.trace.frames.size()),
            record.groups[0].frames.done + record.groups[1].frames.done);
  for (const TraceFiring& firing : record.trace.firings) EXPECT_GT(firing.end, firing.begin);
}

}  // namespace
}  // namespace millrace::runtime
