#include "base/files/local_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace millrace {
namespace {

constexpr std::size_t longest_line = 64U << 20U;

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path)
    throw InputError(text, fmt::format("is longer than the {} characters of a socket's path",
                                       sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  return address;
}

[[noreturn]] void socket_failed(const std::filesystem::path& path, const char* what) {
  throw EngineError(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

int new_socket(const std::filesystem::path& path) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) socket_failed(path, "no socket can be made");
  return descriptor;
}

bool is_of_this_user(int descriptor) {
  ucred other{};
  socklen_t size = sizeof other;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
         other.uid == ::geteuid();
}

/// Whether something can be read, or someone comes.
bool wait_for(int descriptor, Time longest) {
  pollfd of{descriptor, POLLIN, 0};
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  return ::poll(&of, 1, static_cast<int>(wait)) > 0;
}

void check_folder(const std::filesystem::path& folder) {
  struct stat state {};
  if (::lstat(folder.c_str(), &state) != 0) socket_failed(folder, "cannot be read");
  if (!S_ISDIR(state.st_mode) || state.st_uid != ::geteuid() || (state.st_mode & 077) != 0)
    throw InputError(
        folder.string(),
        "others can reach it, or it is not yours; a socket that admits networks needs a "
        "folder of mode 0700");
}

}  // namespace

LocalConnection::LocalConnection(const std::filesystem::path& socket)
    : descriptor_(new_socket(socket)) {
  const sockaddr_un address = address_of(socket);
  const bool connected =
      ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (connected && is_of_this_user(descriptor_)) return;
  const int error = errno;
  ::close(descriptor_);
  descriptor_ = -1;
  if (connected) throw EngineError(socket.string() + ": another user listens there");
  errno = error;
  socket_failed(socket, "nobody listens there");
}

LocalConnection::~LocalConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

LocalConnection::LocalConnection(LocalConnection&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), read_(std::move(other.read_)) {}

std::optional<std::string> LocalConnection::read_line(Time longest) {
  for (std::size_t looked_at = 0;;) {
    if (const std::size_t end = read_.find('\n', looked_at); end != std::string::npos) {
      std::string line = read_.substr(0, end);
      read_.erase(0, end + 1);
      return line;
    }
    looked_at = read_.size();
    if (looked_at > longest_line) throw EngineError("found a line longer than 64 MiB");
    std::array<char, 65536> part{};
    if (!wait_for(descriptor_, longest)) return std::nullopt;
    const ssize_t count = ::recv(descriptor_, part.data(), part.size(), 0);
    if (count <= 0) return std::nullopt;
    read_.append(part.data(), static_cast<std::size_t>(count));
  }
}

void LocalConnection::write_line(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::send(descriptor_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (count <= 0) throw EngineError("the other side of a socket has ended");
    done += static_cast<std::size_t>(count);
  }
}

LocalListener::LocalListener(const std::filesystem::path& socket) : path_(socket) {
  check_folder(path_.parent_path().empty() ? "." : path_.parent_path());
  const sockaddr_un address = address_of(path_);
  descriptor_ = new_socket(path_);
  ::unlink(path_.c_str());  // of a process that had the same number
  // Whoever could come before the mode is set cannot: the folder is the user's.
  if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path_.c_str(), 0600) != 0 || ::listen(descriptor_, 4) != 0) {
    const int error = errno;
    ::close(descriptor_);
    errno = error;
    socket_failed(path_, "cannot be listened to");
  }
}

LocalListener::~LocalListener() {
  ::close(descriptor_);
  ::unlink(path_.c_str());
}

std::optional<LocalConnection> LocalListener::accept(Time longest) {
  if (!wait_for(descriptor_, longest)) return std::nullopt;
  const int descriptor = ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  LocalConnection connection(descriptor);
  if (!is_of_this_user(descriptor)) return std::nullopt;
  return connection;
}

std::filesystem::path socket_of_process(long process) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::filesystem::path folder = runtime != nullptr ? runtime : "";
  if (folder.empty()) {
    folder = fmt::format("/tmp/millrace-{}", ::geteuid());
    ::mkdir(folder.c_str(), 0700);
  }
  return folder / fmt::format("millrace-{}.sock", process);
}

}  // namespace millrace
