#include "base/files/new_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <iterator>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/temporary.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class MakingFolder : public testing::Test {
 protected:
  std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_.path()), {});
  }
  const test::TemporaryFolder folder_;
};

TEST_F(MakingFolder, has_a_name_that_nobody_can_take_before) {
  const fs::path taken = folder_ / ("out." + std::to_string(::getpid()) + ".partial");
  fs::create_directory(taken);
  write_file(taken / "mine", "mine");
  {
    const NewFolder one(folder_ / "out"), other(folder_ / "out");
    EXPECT_NE(one.path(), taken);
    EXPECT_NE(one.path(), other.path());
    EXPECT_TRUE(fs::is_empty(one.path()));
  }
  EXPECT_EQ(read_file(taken / "mine"), "mine");
  EXPECT_EQ(entries(), 1);
}

TEST_F(MakingFolder, is_there_when_it_is_filled) {
  NewFolder made(folder_ / "a" / "out");
  made.keep_after([&] { write_file(made.path() / "file", "content"); });
  EXPECT_EQ(read_file(folder_ / "a" / "out" / "file"), "content");
}

TEST_F(MakingFolder, follows_a_link) {
  fs::create_directory(folder_ / "target");
  fs::create_symlink("target", folder_ / "link");
  NewFolder made(folder_ / "link");
  made.keep_after([&] { write_file(made.path() / "file", "content"); });
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "target" / "file"), "content");
}

TEST_F(MakingFolder, says_what_fails_of_the_place_that_was_given) {
  NewFolder made(folder_ / "out");
  try {
    made.keep_after([&] { cannot_write(made.path() / "model.onnx", ENOSPC); });
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.what(), (folder_ / "out" / "model.onnx").string() +
                                ": cannot be written: No space left on device");
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(MakingFolder, copies_whole_files) {
  const std::string content(3 << 20, 'x');
  write_file(folder_ / "from", content);
  write_file(folder_ / "empty", "");
  copy_content(folder_ / "from", folder_ / "to" / "file");
  copy_content(folder_ / "empty", folder_ / "to" / "empty");
  EXPECT_EQ(read_file(folder_ / "to" / "file"), content);
  EXPECT_EQ(read_file(folder_ / "to" / "empty"), "");
  EXPECT_THROW(copy_content(folder_ / "none", folder_ / "to" / "none"), InputError);
}

}  // namespace
}  // namespace millrace
