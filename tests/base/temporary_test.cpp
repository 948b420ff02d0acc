#include "base/temporary.h"

#include <gtest/gtest.h>

#include <iterator>

#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

std::ptrdiff_t files_in(const test::TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), {});
}

TEST(TemporaryFile, two_of_one_target_are_two_files_which_keep_the_ending) {
  const test::TemporaryFolder folder;
  {
    const TemporaryFile one(folder / "out.avi", ".avi"), other(folder / "out.avi", ".avi");
    EXPECT_NE(one.path(), other.path());
    EXPECT_EQ(one.path().extension(), ".avi");
    EXPECT_EQ(files_in(folder), 2);
  }
  EXPECT_EQ(files_in(folder), 0);
}

TEST(TemporaryFile, takes_the_place_of_its_target_when_it_is_renamed) {
  const test::TemporaryFolder folder;
  write_file(folder / "out", "old");
  TemporaryFile file(folder / "out");
  EXPECT_EQ(read_file(folder / "out"), "old");
  file.rename();
  EXPECT_EQ(read_file(folder / "out"), "");
  EXPECT_EQ(files_in(folder), 1);
}

}  // namespace
}  // namespace millrace
