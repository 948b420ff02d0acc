#include "serve/notify/notifier.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace millrace::serve {

void NotifySocket::send(const std::string& text) const {
  sockaddr_un address{};
  if (name_.empty() || name_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name_.data(), name_.size());
  if (name_.front() == '@') address.sun_path[0] = 0;
  const int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (file < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
  sendto(file, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
         reinterpret_cast<const sockaddr*>(&address), size);
  close(file);
}

Notifier::Options Notifier::of_environment() {
  const auto text_of = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  Options options{text_of("NOTIFY_SOCKET")};
  const std::string whose = text_of("WATCHDOG_PID");
  if (whose.empty() || whose == std::to_string(getpid()))
    options.watchdog =
        std::chrono::microseconds(std::strtoll(text_of("WATCHDOG_USEC").c_str(), nullptr, 10));
  return options;
}

Notifier::Notifier(const Options& options, Figures& figures)
    : options_(options), socket_(options.socket), figures_(figures) {}

void Notifier::begun(const application::AtWork& work) { begin(work.application.name); }

void Notifier::begun(const application::DeploymentAtWork& work) { begin(work.name); }

void Notifier::begin(const std::string& name) {
  socket_.send(fmt::format("READY=1\nSTATUS={} runs", name));
  using std::chrono::milliseconds;
  if (options_.watchdog.count() == 0) return;
  const auto half = std::chrono::duration_cast<milliseconds>(options_.watchdog / 2);
  signs_.reset();
  signs_ = std::make_unique<runtime::Repeated>([this] { sign(); }, std::max(half, milliseconds(1)));
}

void Notifier::sign() {
  const FiguresNow now = figures_.now();
  if (now.is_busy && now.frames() == last_frames_) return;
  last_frames_ = now.frames();
  socket_.send("WATCHDOG=1");
}

void Notifier::ended() {
  signs_.reset();
  socket_.send("STOPPING=1");
}

}  // namespace millrace::serve
