#include "runtime/scheduling/clock_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "board/clusters.h"
#include "support/fake_rk3588.h"

namespace millrace::runtime {
namespace {

using namespace std::chrono_literals;

std::vector<board::Device> clusters_of(const test::FakeRk3588& system) {
  std::vector<board::Processor> processors;
  for (int core = 0; core < 8; ++core)
    processors.push_back({"core" + std::to_string(core), board::ProcessorKind::cpu, {core}});
  return board::devices_of_cores(
      processors, board::facts_of_cores({0, 1, 2, 3, 4, 5, 6, 7}, system.root()), "");
}

TEST(ClockWatch, reads_the_clock_of_each_cluster) {
  test::FakeRk3588 system;
  system.set_clock(6, 1200);
  ClockWatch watch(clusters_of(system), 1h, system.sys());
  const ClockRecord& record = watch.stop();
  ASSERT_EQ(record.devices.size(), 3u);
  EXPECT_EQ(record.devices[0].mean, board::Megahertz{1800});
  EXPECT_EQ(record.devices[1].mean, board::Megahertz{2400});
  EXPECT_EQ(record.devices[2].mean, board::Megahertz{1200});
  EXPECT_EQ(record.devices[2].highest, board::Megahertz{2400});
  EXPECT_FALSE(record.devices[2].is_limited);
  EXPECT_EQ(record.samples.size(), 6u);  // at the begin and at the end
}

TEST(ClockWatch, the_mean_is_of_the_time_before_and_after_a_cluster_throttles) {
  test::FakeRk3588 system;
  ClockWatch watch(clusters_of(system), 1ms, system.sys());
  system.set_clock(4, 1200);
  const ClockRecord& record = watch.stop();
  ASSERT_FALSE(record.samples.empty());
  EXPECT_EQ(record.devices[0].mean, board::Megahertz{1800});
  EXPECT_LT(record.devices[1].mean.value, 2400);
  EXPECT_GE(record.devices[1].mean.value, 1200);
  EXPECT_EQ(record.samples.back().clock, board::Megahertz{2400});  // of the cluster from core 6
  EXPECT_TRUE(std::ranges::is_sorted(record.samples, {}, &ClockSample::at));
}

TEST(ClockWatch, says_which_cluster_its_cooling_limits) {
  test::FakeRk3588 system;
  system.write("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0");
  system.write("sys/class/thermal/cooling_device0/cur_state", "0");
  system.write("sys/class/thermal/cooling_device1/type", "cpufreq-cpu4");
  system.write("sys/class/thermal/cooling_device1/cur_state", "2");
  ClockWatch watch(clusters_of(system), 1h, system.sys());
  const ClockRecord& record = watch.stop();
  EXPECT_FALSE(record.devices[0].is_limited);
  EXPECT_TRUE(record.devices[1].is_limited);
  EXPECT_FALSE(record.devices[2].is_limited);
}

TEST(ClockWatch, prefers_the_clock_of_the_hardware) {
  test::FakeRk3588 system;
  for (int core = 0; core < 4; ++core)
    system.write("sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/cpuinfo_cur_freq",
                 "1416000");
  ClockWatch watch(clusters_of(system), 1h, system.sys());
  EXPECT_EQ(watch.stop().devices[0].mean, board::Megahertz{1416});
}

TEST(ClockWatch, has_nothing_to_say_where_the_system_tells_no_clocks) {
  const test::TemporaryFolder nothing;
  const test::FakeRk3588 system;
  ClockWatch watch(clusters_of(system), 1ms, nothing.path());
  EXPECT_TRUE(watch.stop().devices.empty());
  EXPECT_TRUE(watch.stop().samples.empty());
}

}  // namespace
}  // namespace millrace::runtime
