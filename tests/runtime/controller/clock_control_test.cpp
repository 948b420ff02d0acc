// Clocks of devices, and times on boards that are not here.
#include "runtime/controller/clock_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>

#include "runtime/controller/controlled_system.h"
#include "runtime/controller/fake_system.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;
using test::FakeSystem;
using test::first_line;
using test::in_scenario;

TEST(ClockControl, clocks_are_those_of_the_setting) {
  ControlledSystem system({{.layers = 1, .fps = 100}});
  system.add_scenario("slow", {0});
  board::Device device;
  device.name = "cpu";
  device.processors = {"core0", "core1"};
  device.clocks = {{500}, {1000}, {2000}};
  system.board.devices = {device};
  system.deployment.settings = {{system::ScenarioId(0), 0, {{"cpu", {1000}}}, 0, {}},
                                {system::ScenarioId(1), 0, {{"cpu", {500}}}, 0, {}}};
  std::vector<double> slowdowns;  // by the release thread, and before it runs
  ControllerOptions options;
  options.simulated_clock = [&](const board::Device&, double slowdown) {
    slowdowns.push_back(slowdown);
    return true;
  };
  Controller controller(system.deployment, system.board, system.to_run(), options);
  controller.start(in_scenario(0));
  play(controller, {{30ms, in_scenario(1)}}, 60ms);
  EXPECT_TRUE(controller.stop().clocks_that_stay.empty());
  EXPECT_EQ(slowdowns, (std::vector<double>{1, 2, 4}));
}

TEST(ClockControl, a_clock_that_cannot_be_set_stays_and_is_told) {
  ControlledSystem system({{.layers = 1, .fps = 100}});
  board::Device device;
  device.name = "npu";
  device.processors = {"core0"};
  device.clocks = {{500}, {1000}};
  system.board.devices = {device};
  system.deployment.settings = {{system::ScenarioId(0), 0, {{"npu", {500}}}, 0, {}}};
  std::vector<std::string> notes;
  ControllerOptions options;
  options.note = [&](const std::string& text) { notes.push_back(text); };
  EXPECT_EQ(test::run(system, 20ms, options).clocks_that_stay.size(), 1u);
  EXPECT_NE(
      std::ranges::find(notes, "its clock stays: device 'npu': no interface to its clock is known"),
      notes.end());
}

TEST(ClockControl, gpus_and_npus_have_the_clock_of_devfreq_and_get_the_old_one_back) {
  FakeSystem fake;
  const auto gpu = fake.add_devfreq("17000000.gv11b", "1377000000");
  const auto npu = fake.add_devfreq("fdab0000.npu", "1000000000");
  const auto memory = fake.add_devfreq("dmc", "2112000000");
  board::Board board;
  board.devices.resize(2);
  board.devices[0].name = "gpu";
  board.devices[0].kind = board::ProcessorKind::gpu;
  board.devices[0].clocks = {{114.75}, {1377}};
  board.devices[1].name = "npu";
  board.devices[1].kind = board::ProcessorKind::npu;
  board.devices[1].clocks = {{500}, {1000}};
  deployment::Deployment deployment;
  deployment.settings = {
      {system::ScenarioId(0), 0, {{"gpu", {114.75}}, {"npu", {500}}}, 0, {}}};
  {
    ClockControl clocks(deployment, board, {}, fake.places());
    EXPECT_TRUE(clocks.staying().empty());
    clocks.set(deployment.settings[0].clocks);
    EXPECT_EQ(first_line(gpu).substr(0, 9), "114750000");
    EXPECT_EQ(first_line(npu).substr(0, 9), "500000000");
    clocks.set({});
    EXPECT_EQ(first_line(gpu), "1377000000");
  }
  EXPECT_EQ(first_line(npu), "1000000000");
  EXPECT_EQ(first_line(memory), "2112000000");
}

TEST(ClockControl, one_of_two_gpus_is_not_guessed) {
  FakeSystem fake;
  fake.add_devfreq("0.gpu", "1");
  fake.add_devfreq("1.gpu", "1");
  board::Board board;
  board.devices.resize(1);
  board.devices[0].name = "gpu";
  board.devices[0].kind = board::ProcessorKind::gpu;
  board.devices[0].clocks = {{100}, {200}};
  deployment::Deployment deployment;
  deployment.settings = {{system::ScenarioId(0), 0, {{"gpu", {100}}}, 0, {}}};
  EXPECT_EQ(ClockControl(deployment, board, {}, fake.places()).staying().size(), 1u);
}

TEST(ClockControl, clocks_of_this_machine_stay_if_the_board_is_another) {
  ControlledSystem system({{.layers = 1, .fps = 100}});
  board::Device device;
  device.name = "cpu";
  device.processors = {"core0"};
  device.cores = {0};
  device.clocks = {{500}, {1000}};
  system.board.devices = {device};
  system.deployment.settings = {{system::ScenarioId(0), 0, {{"cpu", {500}}}, 0, {}}};
  ControllerOptions options;
  options.simulated_clock = [](const board::Device&, double) { return false; };
  EXPECT_EQ(test::run(system, 20ms, options).clocks_that_stay,
            (std::vector<std::string>{
                "device 'cpu': its work is done on this machine, which is not the board"}));
}

TEST(Controller, a_paced_step_is_busy_while_its_thread_sleeps) {
  ControlledSystem system({{.layers = 1, .fps = 50}});
  system.add_step(0, deployment::Step::preprocess, 0, 500ms);
  auto groups = system.to_run();
  std::atomic<int> calls{0};
  groups[0].paced_front = [&](const std::function<void()>& work) {
    work();
    ++calls;
    return Time(3ms);
  };
  Controller controller(system.deployment, system.board, std::move(groups));
  controller.start(in_scenario(0));
  play(controller, {}, 200ms);
  const ControllerRecord record = controller.stop();
  ASSERT_EQ(record.groups[0].tasks.size(), 2u);
  EXPECT_EQ(record.groups[0].tasks[0].times.largest, 3ms);
  EXPECT_EQ(record.groups[0].tasks[0].times.runs, calls.load());
  EXPECT_LT(record.groups[0].responses.largest(), 500ms);  // the worst time is not spent as well
}

}  // namespace
}  // namespace millrace::runtime
