// Heat: what shows it, and the level below.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "runtime/controller/controlled_system.h"
#include "runtime/controller/fake_system.h"
#include "runtime/controller/throttle_signs.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;
using test::ControlledSystem;
using test::FakeSystem;

board::Device cpu_of(std::vector<int> cores) {
  board::Device device;
  device.name = "cpu";
  device.cores = std::move(cores);
  return device;
}

board::Device gpu() {
  board::Device device;
  device.name = "gpu";
  device.kind = board::ProcessorKind::gpu;
  return device;
}

TEST(ThrottleSigns, are_cooling_devices_at_work) {
  FakeSystem fake;
  const auto cores = fake.add_cooling(0, "cpufreq-cpu4");
  const auto graphics = fake.add_cooling(1, "devfreq-fb000000.gpu");
  const auto fan = fake.add_cooling(2, "pwm-fan");
  fake.write("class/thermal/cooling_device2/cur_state", "3");
  ThrottleSigns signs({cpu_of({4, 5}), gpu()}, fake.root());
  EXPECT_EQ(signs.look(0), "");
  fake.write("class/thermal/cooling_device1/cur_state", "2");
  EXPECT_EQ(signs.look(0), "device 'gpu' is cooled by 'devfreq-fb000000.gpu'");
  fake.write("class/thermal/cooling_device0/cur_state", "1");
  EXPECT_EQ(signs.look(0), "device 'cpu' is cooled by 'cpufreq-cpu4'");
  EXPECT_TRUE(ThrottleSigns({cpu_of({0})}, fake.root()).is_empty());
}

TEST(ThrottleSigns, are_counters_that_grow) {
  FakeSystem fake;
  const char* const file = "devices/system/cpu/cpu1/thermal_throttle/core_throttle_count";
  fake.write(file, "17");
  ThrottleSigns signs({cpu_of({0, 1})}, fake.root());
  EXPECT_EQ(signs.look(0), "");
  fake.write(file, "18");
  EXPECT_EQ(signs.look(0), "device 'cpu': core 1 was throttled");
  EXPECT_EQ(signs.look(0), "");
}

TEST(ThrottleSigns, are_limits_that_somebody_else_lowers) {
  FakeSystem fake;
  fake.add_devfreq("17000000.gpu", "1000");
  ThrottleSigns signs({gpu()}, fake.root());
  EXPECT_EQ(signs.look(0), "");
  fake.add_devfreq("17000000.gpu", "600");
  EXPECT_EQ(signs.look(1), "");  // this process set it
  fake.add_devfreq("17000000.gpu", "500");
  EXPECT_EQ(signs.look(1), "device 'gpu': its highest clock was lowered");
  fake.add_devfreq("17000000.gpu", "600");
  EXPECT_EQ(signs.look(1), "");
}

/// At its higher level a frame each 40 ms, at the lower one each 80.
TEST(Controller, answers_heat_by_the_level_below_within_two_periods) {
  constexpr Time period = 40ms;
  FakeSystem fake;
  fake.add_cooling(0, "thermal-cpufreq-0");
  ControlledSystem system({{.layers = 1, .fps = 25, .deadline = period, .least_fps = 12.5}});
  system.deployment.system.levels = 2;
  system.board.devices = {cpu_of({0})};
  ControllerOptions options;
  options.places = fake.places();
  options.trace_frames = 1000;
  Controller controller(system.deployment, system.board, system.to_run(), options);
  const auto begin = std::chrono::steady_clock::now();
  controller.start(test::in_scenario(0, 1));
  Time hot{};
  bool is_hot = false;
  PlayHooks hooks;
  hooks.is_over = [&] {
    if (!is_hot && std::chrono::steady_clock::now() - begin > 300ms) {
      is_hot = true;
      fake.write("class/thermal/cooling_device0/cur_state", "2");
      hot = std::chrono::steady_clock::now() - begin;
    }
    return false;
  };
  play(controller, {}, 900ms, hooks);
  const ControllerRecord record = controller.stop();
  EXPECT_EQ(record.transitions.heat_changes, 1);
  EXPECT_EQ(record.heat, std::vector<std::string>{"device 'cpu' is cooled by 'thermal-cpufreq-0'"});
  std::vector<Time> released;
  for (const TraceFrame& frame : record.trace.frames) released.push_back(frame.released);
  std::ranges::sort(released);
  int slower = 0;
  for (std::size_t f = 1; f < released.size(); ++f) {
    if (released[f - 1] < hot + 2 * period) continue;
    EXPECT_GT(released[f] - released[f - 1], 3 * period / 2);
    ++slower;
  }
  EXPECT_GE(slower, 3);
}

}  // namespace
}  // namespace millrace::runtime
