#include "serve/metrics/sensors.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace millrace::serve {
namespace {

class SensorsTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root.path() / path).parent_path());
    std::ofstream(root.path() / path) << text << '\n';
  }
  test::TemporaryFolder root;
};

TEST_F(SensorsTest, reads_zones_and_clocks) {
  write("class/thermal/thermal_zone0/type", "cpu-thermal");
  write("class/thermal/thermal_zone0/temp", "48312");
  write("class/thermal/cooling_device0/type", "fan");
  write("class/hwmon/hwmon0/temp1_input", "99000");  // the same again
  write("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1500000");
  write("devices/system/cpu/cpu1/topology/core_id", "0");
  const SensorsNow now = Sensors(root.path()).now();
  ASSERT_EQ(now.celsius.size(), 1u);
  EXPECT_DOUBLE_EQ(now.celsius.at("thermal_zone0 cpu-thermal"), 48.312);
  ASSERT_EQ(now.megahertz.size(), 1u);
  EXPECT_DOUBLE_EQ(now.megahertz.at("cpu0"), 1500);
  EXPECT_FALSE(now.joules);
  EXPECT_GT(now.resident_bytes, 1e6);
}

TEST_F(SensorsTest, reads_chips_where_there_are_no_zones) {
  write("class/hwmon/hwmon1/name", "k10temp");
  write("class/hwmon/hwmon1/temp1_input", "55000");
  write("class/hwmon/hwmon1/temp3_input", "51500");
  const SensorsNow now = Sensors(root.path()).now();
  EXPECT_DOUBLE_EQ(now.celsius.at("hwmon1 k10temp temp1"), 55);
  EXPECT_DOUBLE_EQ(now.celsius.at("hwmon1 k10temp temp3"), 51.5);
}

TEST_F(SensorsTest, sums_up_energy) {
  write("class/powercap/intel-rapl:0/name", "package-0");
  write("class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000000");
  write("class/powercap/intel-rapl:0/energy_uj", "1000000");
  Sensors sensors(root.path());
  write("class/powercap/intel-rapl:0/energy_uj", "1000500");
  EXPECT_NEAR(sensors.now().joules.value(), 0.0005, 1e-9);
  write("class/powercap/intel-rapl:0/energy_uj", "1000700");
  EXPECT_NEAR(sensors.now().joules.value(), 0.0007, 1e-9);
  EXPECT_EQ(sensors.now().source_of_energy, "RAPL");
}

TEST_F(SensorsTest, says_nothing_where_the_system_does) {
  const SensorsNow now = Sensors(root.path()).now();
  EXPECT_TRUE(now.celsius.empty() && now.megahertz.empty() && !now.joules);
}

}  // namespace
}  // namespace millrace::serve
