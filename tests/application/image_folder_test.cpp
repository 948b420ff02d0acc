#include "application/image_folder.h"

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "support/temporary_folder.h"

namespace millrace::application {
namespace {

TEST(ImagesIn, are_files_in_the_order_of_their_numbers_and_no_hidden_ones) {
  const test::TemporaryFolder folder;
  for (const char* name : {"img10.png", "img2.PNG", "._img1.png", "note.txt"})
    write_file(folder / name, "");
  std::filesystem::create_directory(folder / "folder.png");
  std::filesystem::create_symlink("nowhere", folder / "link.png");
  std::error_code error;
  std::vector<std::string> names;
  for (const auto& path : images_in(folder.path(), error)) names.push_back(path.filename());
  EXPECT_FALSE(error);
  EXPECT_EQ(names, (std::vector<std::string>{"img2.PNG", "img10.png"}));
}

TEST(ImagesIn, of_a_folder_that_is_not_there_are_an_error) {
  const test::TemporaryFolder folder;
  std::error_code error;
  EXPECT_TRUE(images_in(folder / "none", error).empty());
  EXPECT_TRUE(error);
}

}  // namespace
}  // namespace millrace::application
