#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <ostream>
#include <stdexcept>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

class File : public testing::Test {
 protected:
  test::TemporaryFolder folder;
};

TEST_F(File, what_is_written_can_be_read) {
  write_file(folder / "a", "content\n");
  EXPECT_EQ(read_file(folder / "a"), "content\n");
}

TEST_F(File, a_failure_while_producing_leaves_the_old_file_and_no_other) {
  write_file(folder / "a", "old");
  EXPECT_THROW(write_file(folder / "a",
                          [](std::ostream& out) {
                            out << "half";
                            throw std::runtime_error("stop");
                          }),
               std::runtime_error);
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST_F(File, a_link_is_followed_not_replaced) {
  write_file(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_file(folder / "link", "new");
  EXPECT_EQ(read_file(folder / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST_F(File, a_link_to_what_is_not_there_yet_is_followed) {
  std::filesystem::create_symlink("target", folder / "link");
  check_writable(folder / "link");
  write_file(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "target"), "new");
  std::filesystem::create_symlink("circle", folder / "circle");
  EXPECT_THROW(write_file(folder / "circle", "new"), EngineError);
}

TEST_F(File, a_pipe_is_written_to_and_stays) {
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  write_file(folder / "pipe", "hello");
  std::array<char, 6> content{};
  EXPECT_EQ(read(reader, content.data(), content.size()), 5);
  close(reader);
  EXPECT_STREQ(content.data(), "hello");
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

TEST_F(File, a_folder_is_refused_before_any_work) {
  EXPECT_THROW(write_file(folder.path(), [](std::ostream&) { FAIL() << "produced"; }), EngineError);
}

TEST_F(File, whether_it_can_be_written_is_asked_without_a_trace) {
  write_file(folder / "a", "old");
  check_writable(folder / "a");
  check_writable(folder / "b");
  check_writable("/dev/null");
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_THROW(check_writable(folder / "no" / "b"), EngineError);
  EXPECT_THROW(check_writable(folder.path()), EngineError);
}

TEST_F(File, a_full_disk_is_an_engine_error_that_names_the_file) {
  try {
    write_file("/dev/full/x", "content");
    FAIL() << "no error";
  } catch (const EngineError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/full/x"), std::string::npos);
  }
}

TEST_F(File, reading_a_missing_file_or_a_folder_is_an_input_error) {
  EXPECT_THROW(read_file(folder / "missing"), InputError);
  EXPECT_THROW(read_file(folder.path()), InputError);
}

TEST_F(File, reading_a_huge_file_is_an_input_error) {
  write_file(folder / "a", "text");
  std::filesystem::resize_file(folder / "a", largest_text + 1);
  EXPECT_THROW(read_file(folder / "a"), InputError);
}

TEST_F(File, reading_a_device_or_a_pipe_is_an_input_error) {
  ASSERT_EQ(mkfifo((folder / "endless").c_str(), 0600), 0);
  EXPECT_THROW(read_file(folder / "endless"), InputError);
  EXPECT_THROW(read_file("/dev/zero"), InputError);
}

TEST(NearestWord, of_a_very_long_word_is_none) {
  const std::string longest(100, 'a'), too_long(101, 'a');
  const std::array<std::string_view, 1> known{longest};
  EXPECT_EQ(nearest_word(longest, known), longest);
  EXPECT_EQ(nearest_word(too_long, known), "");
}

TEST(NearestWord, finds_a_near_word_and_nothing_for_a_far_one) {
  constexpr std::array<std::string_view, 3> known{"throughput", "latency", "energy"};
  EXPECT_EQ(nearest_word("thruput", known), "throughput");
  EXPECT_EQ(nearest_word("zebra", known), "");
}

}  // namespace
}  // namespace millrace
