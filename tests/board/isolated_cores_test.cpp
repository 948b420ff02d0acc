#include "board/isolated_cores.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/temporary_folder.h"

namespace millrace::board {
namespace {

void write_line(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text << '\n';
}

TEST(isolated_cores, are_those_of_the_kernel_and_of_cpusets) {
  const test::TemporaryFolder root;
  EXPECT_TRUE(isolated_cores(root.path()).empty());
  write_line(root / "sys/devices/system/cpu/isolated", "");
  EXPECT_TRUE(isolated_cores(root.path()).empty());
  write_line(root / "sys/devices/system/cpu/isolated", "2,6-7");
  write_line(root / "sys/fs/cgroup/cpuset.cpus.isolated", "5-6");
  EXPECT_EQ(isolated_cores(root.path()), (std::vector<int>{2, 5, 6, 7}));
}

}  // namespace
}  // namespace millrace::board
