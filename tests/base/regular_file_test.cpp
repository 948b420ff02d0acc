#include "base/files/regular_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/file.h"
#include "support/message_of.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

/// Something that is no file, of each kind. Nothing may wait for it.
class RegularFile : public testing::Test {
 protected:
  RegularFile() {
    mkfifo((folder_ / "pipe").c_str(), 0600);
    std::filesystem::create_directory(folder_ / "folder");
    std::filesystem::create_symlink("pipe", folder_ / "link");
    std::filesystem::create_symlink("nowhere", folder_ / "dangling");
    const int made = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder_ / "socket").c_str(), sizeof address.sun_path - 1);
    ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(made);
    write_file(folder_ / "file", "text");
  }

  const test::TemporaryFolder folder_;
};

TEST_F(RegularFile, what_is_none_is_named) {
  const auto message = [&](const char* name) {
    const std::string text = test::message_of([&] { open_regular_file(folder_ / name); });
    return text.substr(text.rfind(": ") + 2);
  };
  const std::string pipe = "is a pipe or a device, expected a file; write its content into a file";
  EXPECT_EQ(message("pipe"), pipe);
  EXPECT_EQ(message("link"), pipe);
  EXPECT_EQ(message("socket"), "is a socket, expected a file");
  EXPECT_EQ(message("folder"), "is a folder, expected a file");
  EXPECT_EQ(message("dangling"), "No such file or directory");
  EXPECT_NO_THROW(check_is_regular(folder_ / "dangling"));
  EXPECT_NO_THROW(check_is_regular(folder_ / "file"));
}

TEST_F(RegularFile, only_a_file_has_a_descriptor) {
  for (const char* name : {"pipe", "link", "socket", "folder", "dangling"})
    EXPECT_EQ(open_regular_descriptor(folder_ / name), -1) << name;
  const int file = open_regular_descriptor(folder_ / "file");
  EXPECT_GE(file, 0);
  ::close(file);
}

}  // namespace
}  // namespace millrace
