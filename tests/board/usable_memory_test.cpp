#include "board/limits/usable_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

/// A machine whose control groups say what the test writes.
class Machine {
 public:
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text << '\n';
  }
  std::int64_t mebibytes() const { return usable_memory(folder_.path()).count >> 20; }
  std::int64_t all() const { return memory_of_this_machine().count >> 20; }

 private:
  test::TemporaryFolder folder_;
};

constexpr const char* of_64_mib = "67108864";
constexpr const char* of_32_mib = "33554432";

TEST(UsableMemory, is_that_of_the_machine_where_nothing_limits_it) {
  Machine machine;
  EXPECT_EQ(machine.mebibytes(), machine.all());
  machine.write("proc/self/cgroup", "4:memory:/one\n0::/two");
  machine.write("sys/fs/cgroup/memory/one/memory.limit_in_bytes", "9223372036854771712");
  machine.write("sys/fs/cgroup/two/memory.max", "max");
  EXPECT_EQ(machine.mebibytes(), machine.all());
}

TEST(UsableMemory, is_the_least_of_a_group_of_version_1_and_those_that_it_is_in) {
  Machine machine;
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/one/two");
  machine.write("sys/fs/cgroup/memory/one/two/memory.limit_in_bytes", of_64_mib);
  EXPECT_EQ(machine.mebibytes(), 64);
  machine.write("sys/fs/cgroup/memory/one/memory.limit_in_bytes", of_32_mib);
  EXPECT_EQ(machine.mebibytes(), 32);
}

TEST(UsableMemory, is_the_least_of_groups_of_version_2) {
  Machine machine;
  machine.write("proc/self/cgroup", "0::/user.slice/one");
  machine.write("sys/fs/cgroup/user.slice/one/memory.max", "max");
  machine.write("sys/fs/cgroup/user.slice/memory.max", of_32_mib);
  EXPECT_EQ(machine.mebibytes(), 32);
}

/// In a container the group's path is the host's; its own group is the mount.
TEST(UsableMemory, is_that_of_the_mount_where_the_group_is_not_there) {
  Machine machine;
  machine.write("proc/self/cgroup", "4:memory:/docker/abc");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", of_64_mib);
  EXPECT_EQ(machine.mebibytes(), 64);
}

TEST(UsableMemory, a_reached_device_brings_the_memory_of_its_board_once) {
  Board board;
  Device device;
  device.name = "second.core0";
  device.kind = ProcessorKind::npu;
  device.processors = {"second.core0"};
  device.space = "second";
  add_reached(board, device, Bytes{1000});
  device.name = "second.core1";
  device.processors = {"second.core1"};
  add_reached(board, device, Bytes{1000});
  ASSERT_EQ(board.memories.size(), 1u);
  EXPECT_EQ(board.memories[0].shared_by,
            (std::vector<std::string>{"second.core0", "second.core1"}));
  ASSERT_NE(main_memory_of(board, board.processors.at(1)), nullptr);
  EXPECT_EQ(main_memory_of(board, board.processors[1])->size.count, 1000);
}

}  // namespace
}  // namespace millrace::board
