#include "base/files/named_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "support/temporary_folder.h"

namespace millrace {
namespace {

using namespace std::chrono_literals;

class NamedPipe : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkfifo(pipe().c_str(), 0600), 0); }

  std::filesystem::path pipe() const { return folder_ / "pipe"; }
  /// How many descriptors of this process are of the pipe.
  int descriptors() const {
    int count = 0;
    std::error_code gone;  // some close meanwhile
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      if (std::filesystem::read_symlink(entry.path(), gone) == pipe()) ++count;
    return count;
  }
  std::string read_all() const {
    const int file = ::open(pipe().c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    std::array<char, 64> some{};
    for (ssize_t count = 1; (count = ::read(file, some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(count));
    ::close(file);
    return text;
  }

  test::TemporaryFolder folder_;
};

void write_hello(int file) {
  EXPECT_EQ(::write(file, "hello", 5), 5);
  ::close(file);
}

TEST_F(NamedPipe, a_reader_that_comes_while_it_is_waited_for_gets_all) {
  std::string text;
  std::thread reader([&] {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (descriptors() != 1 && std::chrono::steady_clock::now() < give_up) continue;
    text = read_all();
  });
  const int file = open_read_pipe(pipe(), 1h);
  ASSERT_GE(file, 0);
  write_hello(file);
  reader.join();
  EXPECT_EQ(text, "hello");
}

TEST_F(NamedPipe, a_reader_that_waits_already_gets_all) {
  std::string text;
  std::thread reader([&] { text = read_all(); });
  const int file = open_read_pipe(pipe(), 1h);
  ASSERT_GE(file, 0);
  write_hello(file);
  reader.join();
  EXPECT_EQ(text, "hello");
}

TEST_F(NamedPipe, a_reader_that_never_comes_is_not_waited_for) {
  errno = 0;
  EXPECT_EQ(open_read_pipe(pipe(), 10ms), -1);
  EXPECT_EQ(errno, ENXIO);
  EXPECT_EQ(descriptors(), 0);
}

TEST_F(NamedPipe, who_opens_it_to_write_is_no_reader) {
  const int both = ::open(pipe().c_str(), O_RDWR | O_CLOEXEC);
  const int other = ::open(pipe().c_str(), O_WRONLY | O_CLOEXEC);
  ::close(both);
  EXPECT_EQ(open_read_pipe(pipe(), 10ms), -1);
  ::close(other);
}

TEST_F(NamedPipe, what_cannot_be_opened_says_why) {
  EXPECT_EQ(open_read_pipe(folder_ / "missing", 1h), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace millrace
