// Files are on the disk before they get their names. The program's own fsync() is called in
// place of the C library's.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/temporary.h"
#include "support/temporary_folder.h"

namespace {

struct Synced {
  ino_t file = 0;
  off_t bytes = 0;
  bool is_folder = false;
  std::string target_then;
};

std::filesystem::path watched;  // as long as a test runs
std::vector<Synced> calls;

}  // namespace

extern "C" int fsync(int file) {
  struct stat found {};
  if (!watched.empty() && fstat(file, &found) == 0)
    calls.push_back(
        {found.st_ino, found.st_size, S_ISDIR(found.st_mode), millrace::read_file(watched)});
  return static_cast<int>(syscall(SYS_fsync, file));
}

namespace millrace {
namespace {

TEST(write_file, is_on_the_disk_before_it_takes_its_place) {
  const test::TemporaryFolder folder;
  write_file(folder / "out", "old");
  watched = folder / "out";
  calls.clear();
  write_file(folder / "out", "new one");
  watched.clear();
  struct stat found {};
  ASSERT_EQ(stat((folder / "out").c_str(), &found), 0);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].file, found.st_ino);
  EXPECT_EQ(calls[0].bytes, 7);
  EXPECT_EQ(calls[0].target_then, "old");
  EXPECT_TRUE(calls[1].is_folder);
  EXPECT_EQ(calls[1].target_then, "new one");
}

}  // namespace
}  // namespace millrace
