#include "base/temporary.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

#include "base/error.h"
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

TEST(TemporaryFile, has_a_name_also_if_that_of_its_target_is_as_long_as_it_can_be) {
  const test::TemporaryFolder folder;
  std::string umlauts;
  for (int i = 0; i < 127; ++i) umlauts += "\u00e4";
  for (const std::string& name : {std::string(255, 'x'), umlauts + "y"}) {
    ASSERT_EQ(name.size(), 255u);
    write_file(folder / name, "content");
    EXPECT_EQ(read_file(folder / name), "content");
    const TemporaryFile video(folder / name, ".mp4");
    EXPECT_LE(video.path().filename().string().size(), 255u);
    EXPECT_EQ(video.path().extension(), ".mp4");
  }
}

/// In a process that ends without cleaning up.
template <class Work>
void in_killed_process(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(sweep_temporaries, takes_those_of_killed_processes_and_no_others) {
  const test::TemporaryFolder folder;
  const TemporaryFile living(folder / "out");
  for (const char* name : {"notes.tmp", "a.millrace-12.tmp", "a.millrace-0123456789abcdex.tmp"})
    write_file(folder / name, "somebody's");
  in_killed_process([&] { new TemporaryFile(folder / "out"); });
  EXPECT_EQ(files_in(folder), 5);
  sweep_temporaries(folder.path());
  EXPECT_EQ(files_in(folder), 4);
  EXPECT_TRUE(std::filesystem::exists(living.path()));
}

TEST(sweep_temporaries, keeps_what_can_be_read_as_far_as_it_came) {
  const test::TemporaryFolder folder;
  in_killed_process([&] { new TemporaryFile(folder / "boxes.avi", ".avi"); });
  in_killed_process([&] {
    const auto* const file = new TemporaryFile(folder / "boxes.avi", ".avi");
    std::ofstream(file->path()) << "pictures";
  });
  check_writable(folder / "other");
  EXPECT_EQ(files_in(folder), 1);
  EXPECT_EQ(read_file(folder / "boxes.killed.avi"), "pictures");
}

mode_t mode_of(const std::filesystem::path& path) {
  struct stat found {};
  return stat(path.c_str(), &found) == 0 ? found.st_mode & 0777u : 0;
}

TEST(TemporaryFile, takes_the_permissions_of_its_target_and_never_shows_more) {
  const test::TemporaryFolder folder;
  for (const mode_t mode : {0600u, 0640u, 0755u}) {
    write_file(folder / "out", "old");
    ASSERT_EQ(chmod((folder / "out").c_str(), mode), 0);
    TemporaryFile file(folder / "out");
    EXPECT_EQ(mode_of(file.path()) & ~mode, 0u);
    file.rename();
    EXPECT_EQ(mode_of(folder / "out"), mode);
  }
}

/// Root may write anything, so another user tries; ends with the test.
class AsOtherUser {
 public:
  AsOtherUser() : was_(geteuid()) {
    constexpr uid_t nobody = 65534;
    if (was_ == 0 && seteuid(nobody) != 0) ADD_FAILURE() << "cannot become another user";
  }
  ~AsOtherUser() {
    if (seteuid(was_) != 0) ADD_FAILURE() << "cannot become root again";
  }
  AsOtherUser(const AsOtherUser&) = delete;
  AsOtherUser& operator=(const AsOtherUser&) = delete;

 private:
  uid_t was_;
};

TEST(TemporaryFile, does_not_replace_what_is_write_protected) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0777), 0);
  write_file(folder / "out", "old");
  ASSERT_EQ(chmod((folder / "out").c_str(), 0444), 0);
  {
    const AsOtherUser user;
    try {
      check_writable(folder / "out");
      FAIL() << "no error";
    } catch (const EngineError& error) {
      EXPECT_NE(std::string(error.what()).find("the file is write-protected"), std::string::npos);
    }
    EXPECT_THROW(write_file(folder / "out", "new"), EngineError);
  }
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(EndOfLinks, is_where_a_chain_ends_and_of_a_circle_there_is_none) {
  const test::TemporaryFolder folder;
  std::filesystem::create_symlink("second", folder / "first");
  std::filesystem::create_symlink(folder / "third", folder / "second");
  EXPECT_EQ(end_of_links(folder / "first"), folder / "third");
  EXPECT_EQ(end_of_links(folder / "third"), folder / "third");
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_THROW(end_of_links(folder / "circle"), EngineError);
}

}  // namespace
}  // namespace millrace
