#include "board/clusters.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/fake_rk3588.h"
#include "support/message_of.h"

namespace millrace::board {
namespace {

std::vector<Processor> cores(int count) {
  std::vector<Processor> result;
  for (int core = 0; core < count; ++core)
    result.push_back({"core" + std::to_string(core), ProcessorKind::cpu, {core}});
  return result;
}

Board board_at(const std::filesystem::path& root, int count = 8) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  Board board;
  board.processors = cores(count);
  board.devices = devices_of_cores(board.processors, facts_of_cores(numbers, root), "some chip");
  return board;
}

TEST(Clusters, of_an_rk3588_are_three_devices_with_clocks) {
  const test::FakeRk3588 system;
  const Board board = board_at(system.root());
  ASSERT_EQ(board.devices.size(), 3u);
  EXPECT_EQ(board.devices[0].name, "cpu0");
  EXPECT_EQ(board.devices[0].model, "Cortex-A55");
  EXPECT_EQ(board.devices[0].cores, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(board.devices[0].clocks, (std::vector<Megahertz>{{408}, {1008}, {1800}}));
  EXPECT_EQ(board.devices[1].cores, (std::vector{4, 5}));
  EXPECT_EQ(board.devices[2].cores, (std::vector{6, 7}));
  EXPECT_EQ(board.devices[2].model, "Cortex-A76");
  EXPECT_EQ(board.devices[2].clocks.back(), Megahertz{2400});
  EXPECT_EQ(board.devices[2].processors, (std::vector<std::string>{"core6", "core7"}));
}

TEST(Clusters, have_the_capacities_of_the_system) {
  const test::FakeRk3588 system;
  const std::vector<CoreFacts> facts = facts_of_cores({0, 7}, system.root());
  EXPECT_EQ(facts[0].capacity, 530);
  EXPECT_EQ(facts[1].capacity, 1024);
  EXPECT_EQ(facts[1].clock_of, 6);
}

TEST(Clusters, clocks_are_the_lowest_and_the_highest_where_no_list_is_told) {
  test::FakeRk3588 system;
  const std::string cpufreq = "sys/devices/system/cpu/cpu6/cpufreq/";
  system.remove(cpufreq + "scaling_available_frequencies");
  system.write(cpufreq + "cpuinfo_min_freq", "408000");
  system.write(cpufreq + "cpuinfo_max_freq", "2256000");
  EXPECT_EQ(facts_of_cores({6}, system.root())[0].clocks,
            (std::vector<Megahertz>{{408}, {2256}}));
}

TEST(Clusters, alike_cores_with_a_clock_each_are_one_device) {
  test::FakeRk3588 system;
  system.write("proc/cpuinfo", "model name: Some x86");
  for (int core = 0; core < 8; ++core) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(core) + "/";
    system.write(folder + "cpufreq/related_cpus", std::to_string(core));
    system.remove(folder + "cpu_capacity");
  }
  const Board board = board_at(system.root());
  ASSERT_EQ(board.devices.size(), 1u);
  EXPECT_EQ(board.devices[0].name, "cpu");
  EXPECT_EQ(board.devices[0].model, "some chip");
  EXPECT_TRUE(board.devices[0].clocks.empty());
}

TEST(Clusters, hardware_threads_of_a_core_are_no_cluster) {
  test::FakeRk3588 system;
  system.write("proc/cpuinfo", "model name: Some x86");
  for (int core = 0; core < 2; ++core) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(core) + "/";
    const std::string threads = std::to_string(core) + "," + std::to_string(core + 2);
    system.write(folder + "cpufreq/related_cpus",
                 std::to_string(core) + " " + std::to_string(core + 2));
    system.write(folder + "topology/thread_siblings_list", threads);
  }
  EXPECT_EQ(board_at(system.root(), 2).devices.size(), 1u);
}

TEST(Clusters, a_machine_that_tells_nothing_has_one_device) {
  const test::TemporaryFolder nothing;
  const Board board = board_at(nothing.path());
  ASSERT_EQ(board.devices.size(), 1u);
  EXPECT_EQ(board.devices[0].cores.size(), 8u);
}

TEST(Clusters, intels_kinds_count_before_capacities) {
  std::vector<CoreFacts> facts(4);
  for (int core = 0; core < 4; ++core) {
    facts[static_cast<std::size_t>(core)].core = core;
    facts[static_cast<std::size_t>(core)].capacity = 1000 + core;  // the best ones turn faster
    facts[static_cast<std::size_t>(core)].kind = core < 2 ? 1 : 0;
  }
  const std::vector<Device> devices = devices_of_cores(cores(4), facts, "hybrid");
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].cores, (std::vector{2, 3}));
  EXPECT_EQ(devices[1].cores, (std::vector{0, 1}));
}

TEST(Clusters, are_joined_each_by_itself) {
  const test::FakeRk3588 system;
  Board board = board_at(system.root());
  board.processors.push_back({"gpu0", ProcessorKind::gpu, {}});
  std::vector<std::string> names;
  for (const Processor& cluster : joined_clusters(board)) names.push_back(cluster.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cores0-3", "cores4-5", "cores6-7"}));
  names.clear();
  for (const Processor& cluster : joined_clusters(only(board, {"core1", "core3", "core6"})))
    names.push_back(cluster.name);
  EXPECT_EQ(names, (std::vector<std::string>{"cores1,3", "core6"}));
}

TEST(Clusters, unlike_cores_are_not_joined) {
  const test::FakeRk3588 system;
  const Board board = board_at(system.root());
  const auto joining = [&](const std::string& name) {
    return test::message_of([&] { static_cast<void>(only(board, {name})); });
  };
  EXPECT_EQ(joining("cores0-3"), "no error");
  EXPECT_EQ(joining("cores4-7"), "no error");
  for (const char* name : {"cores0-7", "core3+core4"})
    EXPECT_NE(joining(name).find("joins unlike cores: core"), std::string::npos) << joining(name);
}

}  // namespace
}  // namespace millrace::board
