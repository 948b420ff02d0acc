#include "weights_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace millrace_cluster {
namespace {

namespace fs = std::filesystem;

TEST(WeightsFile, is_gone_with_its_folder_and_so_is_what_a_killed_worker_left) {
  const millrace::test::TemporaryFolder folder;
  const fs::path left = folder.path() / "millrace-worker-abc123", other = folder.path() / "other";
  for (const fs::path& each : {left, other}) {
    fs::create_directory(each);
    std::ofstream(each / "weights") << "1234";
  }
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  {
    WeightsFile first(4);
    EXPECT_FALSE(fs::exists(left));
    EXPECT_TRUE(fs::exists(other / "weights"));
    first.put(0, "abcd");
    const WeightsFile second(8);  // leaves the first one alone
    std::string bytes;
    std::ifstream(first.folder() / "weights") >> bytes;
    EXPECT_EQ(bytes, "abcd");
    EXPECT_EQ(fs::file_size(second.folder() / "weights"), 8);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace millrace_cluster
