// Sockets of one user: who may reach them, and lines of any length.
#include "base/files/local_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace millrace {
namespace {

using std::chrono::seconds;

TEST(LocalSocket, lines_go_both_ways_however_long) {
  const test::TemporaryFolder folder;
  LocalListener listener(folder / "s.sock");
  std::thread echo([&] {
    std::optional<LocalConnection> connection = listener.accept(seconds(20));
    ASSERT_TRUE(connection);
    while (const auto line = connection->read_line(seconds(20)))
      connection->write_line(*line + "!");
  });
  {
    LocalConnection connection(folder / "s.sock");
    for (const std::size_t length : {0u, 5u, 500'000u}) {
      const std::string sent(length, 'x');
      connection.write_line(sent);
      EXPECT_EQ(connection.read_line(seconds(20)), sent + "!");
    }
  }
  echo.join();
}

TEST(LocalSocket, only_the_user_reaches_it) {
  const test::TemporaryFolder folder;
  {
    const LocalListener listener(folder / "s.sock");
    struct stat state {};
    ASSERT_EQ(::stat((folder / "s.sock").c_str(), &state), 0);
    EXPECT_EQ(state.st_mode & 0777U, 0600U);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "s.sock"));
  EXPECT_THROW(LocalConnection(folder / "s.sock"), EngineError);
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_THROW(LocalListener(folder / "s.sock"), InputError);
  ::chmod(folder.path().c_str(), 0700);
}

TEST(LocalSocket, nobody_comes) {
  const test::TemporaryFolder folder;
  LocalListener listener(folder / "s.sock");
  EXPECT_FALSE(listener.accept(std::chrono::milliseconds(1)));
  const LocalConnection silent(folder / "s.sock");
  std::optional<LocalConnection> connection = listener.accept(seconds(20));
  ASSERT_TRUE(connection);
  EXPECT_FALSE(connection->read_line(std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace millrace
