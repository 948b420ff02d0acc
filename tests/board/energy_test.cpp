#include "board/energy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "board/power.h"
#include "board/shipped.h"
#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

using namespace std::chrono_literals;

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

class EnergyMeterTest : public testing::Test {
 protected:
  void add_zone(const std::string& zone, const std::string& name, std::int64_t energy) {
    write(zones / zone / "name", name);
    write(zones / zone / "energy_uj", std::to_string(energy));
    write(zones / zone / "max_energy_range_uj", "10000000000");
  }
  /// A second after the last one.
  std::optional<double> take(EnergyMeter& meter) { return meter.take(now_ += 1s); }

  test::TemporaryFolder root;
  std::filesystem::path zones = root.path() / "class/powercap";
  EnergyMeter::Clock::time_point now_ = EnergyMeter::Clock::now() + 1s;
};

TEST_F(EnergyMeterTest, adds_packages_and_memory_and_nothing_that_is_part_of_them) {
  add_zone("intel-rapl:0", "package-0", 1'000'000);
  add_zone("intel-rapl:0:0", "core", 5);
  add_zone("intel-rapl:0:1", "dram", 2'000'000);
  add_zone("intel-rapl:1", "psys", 7);
  EnergyMeter meter(root.path());
  ASSERT_TRUE(meter.can_measure());
  EXPECT_EQ(meter.source(), "RAPL");
  write(zones / "intel-rapl:0/energy_uj", "4000000");
  write(zones / "intel-rapl:0:0/energy_uj", "9000000");
  write(zones / "intel-rapl:0:1/energy_uj", "2500000");
  EXPECT_DOUBLE_EQ(take(meter).value(), 3.5);
  EXPECT_DOUBLE_EQ(take(meter).value(), 0);
}

TEST_F(EnergyMeterTest, follows_a_counter_that_begins_anew) {
  add_zone("intel-rapl:0", "package-0", 9'999'000'000);
  EnergyMeter meter(root.path());
  write(zones / "intel-rapl:0/energy_uj", "500000");
  EXPECT_DOUBLE_EQ(take(meter).value(), 1.5);
}

TEST_F(EnergyMeterTest, does_not_believe_a_counter_that_jumps_backwards) {
  add_zone("intel-rapl:0", "package-0", 4'000'000'000);
  write(zones / "intel-rapl:0/max_energy_range_uj", "10000000000000");
  EnergyMeter larger(root.path());
  write(zones / "intel-rapl:0/energy_uj", "3999000000");
  EXPECT_FALSE(take(larger).has_value());
  write(zones / "intel-rapl:0/energy_uj", "4001000000");
  EXPECT_DOUBLE_EQ(take(larger).value(), 2);  // and goes on from there
}

TEST_F(EnergyMeterTest, adds_the_rails_of_ina_sensors_over_time) {
  const auto sensor = root.path() / "bus/i2c/devices/1-0040/hwmon/hwmon3";
  write(sensor / "name", "ina3221");
  write(sensor / "in1_input", "5000");   // 5 V
  write(sensor / "curr1_input", "400");  // 0.4 A
  write(sensor / "in2_input", "3300");   // no current: not connected
  const auto other = root.path() / "class/hwmon/hwmon4";
  write(other / "name", "ina226");
  write(other / "power1_input", "1500000");  // 1.5 W
  write(root.path() / "class/hwmon/hwmon5/name", "nvme");
  write(root.path() / "class/hwmon/hwmon5/power1_input", "9000000");
  EnergyMeter meter(root.path());
  ASSERT_TRUE(meter.needs_samples());
  EXPECT_EQ(meter.source(), "INA sensors");
  meter.take(now_);
  meter.sample(now_ + 1s);
  write(other / "power1_input", "3500000");
  meter.sample(now_ + 2s);
  EXPECT_NEAR(meter.take(now_ + 2s).value(), 2 * 2 + 1.5 + 3.5, 1e-9);
  write(other / "power1_input", "-8000");  // a sensor that lost its mind
  meter.sample(now_ + 3s);
  write(other / "power1_input", "1500000");
  EXPECT_FALSE(meter.take(now_ + 4s).has_value());
  EXPECT_NEAR(meter.take(now_ + 5s).value(), 3.5, 1e-9);
}

TEST_F(EnergyMeterTest, takes_counters_of_sockets_and_of_ina_sensors_once) {
  const auto amd = root.path() / "class/hwmon/hwmon0", ina = root.path() / "class/hwmon/hwmon1";
  write(amd / "name", "amd_energy");
  write(amd / "energy1_label", "Ecore000");
  write(amd / "energy1_input", "1000000");
  write(amd / "energy2_label", "Esocket0");
  write(amd / "energy2_input", "5000000");
  write(ina / "name", "ina228");
  write(ina / "energy1_input", "700000");
  write(ina / "power1_input", "9000000");  // the same, as power
  EnergyMeter meter(root.path());
  EXPECT_FALSE(meter.needs_samples());
  EXPECT_EQ(meter.source(), "energy counters of hwmon");
  write(amd / "energy1_input", "3000000");
  write(amd / "energy2_input", "8000000");
  write(ina / "energy1_input", "1200000");
  EXPECT_DOUBLE_EQ(take(meter).value(), 3 + 0.5);
}

TEST_F(EnergyMeterTest, takes_what_a_battery_loses) {
  const auto battery = root.path() / "class/power_supply/BAT0";
  write(battery / "type", "Battery");
  write(battery / "status", "Discharging");
  write(battery / "energy_now", "50000000");
  EnergyMeter meter(root.path());
  ASSERT_EQ(meter.source(), "battery");
  write(battery / "energy_now", "49990000");
  EXPECT_NEAR(take(meter).value(), 36, 1e-9);
  write(battery / "energy_now", "49999000");  // up, although it discharges
  EXPECT_FALSE(take(meter).has_value());
  write(battery / "status", "Charging");
  EXPECT_FALSE(EnergyMeter(root.path()).can_measure());
}

TEST_F(EnergyMeterTest, says_why_it_cannot_measure) {
  EnergyMeter none(root.path() / "absent");
  EXPECT_FALSE(none.can_measure());
  EXPECT_FALSE(none.take());
  EXPECT_NE(none.reason().find("no energy counters"), std::string::npos);
  add_zone("intel-rapl:0", "package-0", 1);
  write(zones / "intel-rapl:0/energy_uj", "secret");
  const EnergyMeter hidden(root.path());
  EXPECT_FALSE(hidden.can_measure());
  EXPECT_NE(hidden.reason().find("cannot be read"), std::string::npos);
}

TEST(energy_per_frame, is_what_the_power_table_says) {
  const Board xavier = find_board("jetson-agx-xavier");
  Processor gpu, core;
  for (const Processor& each : xavier.processors) {
    if (each.name == "gpu") gpu = each;
    if (each.name == "core0") core = each;
  }
  const auto energies = energy_per_frame(xavier, {{gpu, 0.010}, {core, 0.002}}, 0.020);
  const auto of = [&](const std::string& device) {
    for (const DeviceEnergy& each : energies)
      if (each.device == device) return each;
    return DeviceEnergy{};
  };
  EXPECT_NEAR(of("gpu").still_mj, 600 * 0.020, 1e-6);
  EXPECT_NEAR(of("gpu").busy_mj, 17000 * 0.010, 1e-6);
  EXPECT_NEAR(of("all else").still_mj, 4000 * 0.020, 1e-6);
  EXPECT_TRUE(energy_per_frame({}, {}, 1).empty());
}

}  // namespace
}  // namespace millrace::board
