#include "base/file.h"

#include <gtest/gtest.h>

#include <array>
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

TEST(NearestWord, finds_a_near_word_and_nothing_for_a_far_one) {
  constexpr std::array<std::string_view, 3> known{"throughput", "latency", "energy"};
  EXPECT_EQ(nearest_word("thruput", known), "throughput");
  EXPECT_EQ(nearest_word("zebra", known), "");
}

}  // namespace
}  // namespace millrace
