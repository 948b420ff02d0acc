#include "serve/notify/notifier.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "serve/empty_deployment.h"
#include "support/temporary_folder.h"

namespace millrace::serve {
namespace {

using namespace std::chrono_literals;

/// A service manager's end of the socket.
class Manager {
 public:
  explicit Manager(const std::string& name) : file_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.front() == '@') address.sun_path[0] = 0;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(file_, reinterpret_cast<const sockaddr*>(&address), size), 0);
  }
  ~Manager() { close(file_); }

  /// The next message; "" if none comes within `time`.
  std::string hear(std::chrono::milliseconds time) {
    pollfd poll_of{file_, POLLIN, 0};
    if (poll(&poll_of, 1, static_cast<int>(time.count())) <= 0) return "";
    std::array<char, 512> bytes{};
    const auto size = recv(file_, bytes.data(), bytes.size(), 0);
    return std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }

 private:
  int file_;
};

TEST(Notifier, says_ready_signs_of_life_and_the_end) {
  const test::TemporaryFolder folder;
  const std::string name = (folder.path() / "notify").string();
  Manager manager(name);
  Figures figures;
  Notifier notifier({name, 40ms}, figures);
  const test::EmptyDeployment empty;
  figures.begun(empty.at_work());
  notifier.begun(empty.at_work());
  EXPECT_EQ(manager.hear(1s), "READY=1\nSTATUS=robot runs");
  EXPECT_EQ(manager.hear(1s), "WATCHDOG=1");
  EXPECT_EQ(manager.hear(1s), "WATCHDOG=1");
  notifier.ended();
  std::string last;
  for (std::string text = manager.hear(200ms); !text.empty(); text = manager.hear(200ms))
    last = text;
  EXPECT_EQ(last, "STOPPING=1");
}

TEST(Notifier, knows_abstract_names) {
  const std::string name = "@millrace-test-" + std::to_string(getpid());
  Manager manager(name);
  NotifySocket(name).send("READY=1");
  EXPECT_EQ(manager.hear(1s), "READY=1");
}

TEST(Notifier, bears_that_nobody_listens) {
  NotifySocket("/nowhere/at/all").send("READY=1");
  NotifySocket("").send("READY=1");
  NotifySocket(std::string(500, 'x')).send("READY=1");
}

}  // namespace
}  // namespace millrace::serve
