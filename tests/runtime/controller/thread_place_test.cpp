// Where the release thread runs, which groups are stuck, and where a run begins again.
#include "runtime/controller/thread_place.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <functional>
#include <thread>

#include "deployment/scenario_file.h"
#include "runtime/controller/controlled_system.h"
#include "runtime/controller/fake_system.h"
#include "runtime/scheduling/thread_priority.h"
#include "support/message_of.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;
using test::FakeSystem;
using test::in_scenario;

TEST(ControllerThread, has_an_isolated_core_if_there_is_one) {
  FakeSystem fake;
  const std::filesystem::path root = fake.root().parent_path();
  EXPECT_FALSE(core_of({}, root));
  EXPECT_EQ(core_of({.core = "3"}, root), 3);
  EXPECT_NE(test::message_of([&] { core_of({.core = "isolated"}, root); })
                .find("this machine has no isolated core; start it with isolcpus=N"),
            std::string::npos);
  fake.write("devices/system/cpu/isolated", "2-3");
  EXPECT_EQ(core_of({.core = "isolated"}, root), 2);
  EXPECT_NE(test::message_of([&] { core_of({.core = "first"}, root); })
                .find("found 'first', expected isolated or the number of a core"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] { core_of({.core = "3", .has_deadline = true}, root); })
                .find("found beside SCHED_DEADLINE"),
            std::string::npos);
}

void on_a_thread(const std::function<void()>& work) { std::jthread thread(work); }

TEST(ControllerThread, is_bound_to_its_core) {
  const int core = board::cores_of_this_thread().back();
  on_a_thread([core] {
    EXPECT_TRUE(take_place({}, core, 0, 10ms));
    EXPECT_EQ(board::cores_of_this_thread(), std::vector<int>{core});
  });
}

/// What it gets, or that it has SCHED_FIFO, and why.
TEST(ControllerThread, has_sched_deadline_or_says_why_not) {
  if (!may_have_priority(10)) GTEST_SKIP() << "no real-time priority may be had here";
  on_a_thread([] {
    const Verdict has = take_place({.has_deadline = true}, {}, 10, 10ms);
    constexpr int sched_deadline = 6;
    EXPECT_EQ(::sched_getscheduler(0), has ? sched_deadline : SCHED_FIFO);
    if (!has) {
      EXPECT_NE(has.reason().find("SCHED_DEADLINE with 2.00 ms in each 10.0 ms is refused"),
                std::string::npos);
    }
  });
}

TEST(ControllerThread, gives_groups_so_many_of_their_bounds) {
  ControlledSystem system({{.layers = 1, .fps = 100}, {.layers = 1, .fps = 20}});
  EXPECT_TRUE(patience_of(system.deployment, 0).empty());
  system.deployment.settings = {{system::ScenarioId(0), 0, {}, 0, {Time(4ms), std::nullopt}}};
  EXPECT_EQ(patience_of(system.deployment, 10), (std::vector<Time>{40ms, 500ms}));
}

TEST(Controller, ends_if_a_group_ends_no_frame) {
  ControlledSystem system({{.layers = 1, .fps = 100}, {.layers = 1, .fps = 50, .cores = {1}}});
  system.add_step(0, deployment::Step::postprocess, 0, 1ms);
  auto groups = system.to_run();
  std::atomic<bool> is_stuck{false}, is_over{false};
  groups[0].postprocess = [&](const auto&...) {
    while (is_stuck && !is_over) std::this_thread::yield();
  };
  ControllerOptions options;
  options.thread.watchdog = 10;
  options.patience = 50ms;
  Controller controller(system.deployment, system.board, std::move(groups), options);
  controller.start(in_scenario(0));
  const auto begin = std::chrono::steady_clock::now();
  PlayHooks hooks;
  hooks.is_over = [&] {
    is_stuck = true;
    return false;
  };
  play(controller, {}, 20s, hooks);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  is_over = true;
  const std::string text = test::message_of<EngineError>([&] { controller.stop(); });
  EXPECT_NE(text.find("group 'g0' has ended no frame for"), std::string::npos) << text;
  EXPECT_NE(text.find("and 100 ms are allowed"), std::string::npos) << text;
}

TEST(Controller, begins_where_the_run_before_it_was) {
  ControlledSystem system({{.layers = 1, .fps = 100}});
  system.add_scenario("second one", {0});
  const FakeSystem fake;
  std::filesystem::create_directories(fake.root());
  const std::filesystem::path state = fake.root() / "state";
  EXPECT_FALSE(deployment::read_state(state, system.deployment.system));
  std::vector<deployment::Wanted> asked;
  PlayHooks hooks;
  hooks.first = in_scenario(0);
  hooks.asked = [&](const deployment::Wanted& at) {
    asked.push_back(at);
    write_state(state, at, system.deployment.system);
  };
  Controller controller(system.deployment, system.board, system.to_run());
  controller.start(hooks.first);
  play(controller, {{20ms, in_scenario(1)}, {30ms, in_scenario(1)}}, 50ms, hooks);
  controller.stop();
  EXPECT_EQ(asked, (std::vector{in_scenario(0), in_scenario(1)}));
  EXPECT_EQ(deployment::read_state(state, system.deployment.system), in_scenario(1));
}

}  // namespace
}  // namespace millrace::runtime
