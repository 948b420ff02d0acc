#include "board/energy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text << '\n';
}

void add_zone(const std::filesystem::path& zone, const std::string& name, std::int64_t energy) {
  write(zone / "name", name);
  write(zone / "energy_uj", std::to_string(energy));
  write(zone / "max_energy_range_uj", "10000000");
}

TEST(EnergyMeter, adds_packages_and_memory_and_nothing_that_is_part_of_them) {
  const test::TemporaryFolder folder;
  add_zone(folder.path() / "intel-rapl:0", "package-0", 1'000'000);
  add_zone(folder.path() / "intel-rapl:0:0", "core", 5);
  add_zone(folder.path() / "intel-rapl:0:1", "dram", 2'000'000);
  add_zone(folder.path() / "intel-rapl:1", "psys", 7);
  EnergyMeter meter(folder.path());
  ASSERT_TRUE(meter.can_measure());
  write(folder.path() / "intel-rapl:0/energy_uj", "4000000");
  write(folder.path() / "intel-rapl:0:0/energy_uj", "9000000");
  write(folder.path() / "intel-rapl:0:1/energy_uj", "2500000");
  EXPECT_DOUBLE_EQ(meter.take().value(), 3.5);
  EXPECT_DOUBLE_EQ(meter.take().value(), 0);
}

TEST(EnergyMeter, follows_a_counter_that_begins_anew) {
  const test::TemporaryFolder folder;
  add_zone(folder.path() / "intel-rapl:0", "package-0", 9'000'000);
  EnergyMeter meter(folder.path());
  write(folder.path() / "intel-rapl:0/energy_uj", "500000");
  EXPECT_DOUBLE_EQ(meter.take().value(), 1.5);
}

TEST(EnergyMeter, says_why_it_cannot_measure) {
  const test::TemporaryFolder folder;
  EnergyMeter none(folder.path() / "absent");
  EXPECT_FALSE(none.can_measure());
  EXPECT_FALSE(none.take());
  EXPECT_NE(none.reason().find("no energy counters"), std::string::npos);
  add_zone(folder.path() / "intel-rapl:0", "package-0", 1);
  write(folder.path() / "intel-rapl:0/energy_uj", "secret");
  const EnergyMeter hidden(folder.path());
  EXPECT_FALSE(hidden.can_measure());
  EXPECT_NE(hidden.reason().find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace millrace::board
