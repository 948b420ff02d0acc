#include "engine/plugin/check/child.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"

namespace millrace::engine::plugin::check {
namespace {

/// In the child: the plug-in's crashes end it as any program.
[[noreturn]] void work_and_end(int pipe, const std::function<void(Teller&)>& work) {
  Teller teller(pipe);
  try {
    work(teller);
  } catch (const std::exception& error) {
    teller.fault(error.what());
  }
  ::_exit(0);
}

/// Takes whole lines off the text.
void take_lines(std::string& text, Told& told) {
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    const std::string line = text.substr(1, end - 1);
    if (text.front() == '@') told.at = line;
    if (text.front() == '=') told.results.push_back(line);
    if (text.front() == '!') told.faults.push_back(line);
    text.erase(0, end + 1);
  }
}

/// Whether the child closed its end; false: it was silent for too long.
bool listen(int pipe, double limit, Told& told) {
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    pollfd ready{pipe, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(limit * 1000));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const auto size = ::read(pipe, piece.data(), piece.size());
    if (size <= 0) return true;
    text.append(piece.data(), static_cast<std::size_t>(size));
    take_lines(text, told);
  }
}

}  // namespace

void Teller::tell(char kind, std::string text) {
  std::ranges::replace(text, '\n', ' ');
  text = kind + text + '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const auto written = ::write(pipe_, rest.data(), rest.size());
    if (written <= 0) return;  // nobody listens any more
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

Told in_child(double limit, const std::function<void(Teller&)>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    throw EngineError(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  const pid_t child = ::fork();
  if (child < 0)
    throw EngineError(fmt::format("no process can be started: {}", std::strerror(errno)));
  if (child == 0) {
    ::close(ends[0]);
    work_and_end(ends[1], work);
  }
  ::close(ends[1]);
  Told told;
  const bool closed = listen(ends[0], limit, told);
  ::close(ends[0]);
  if (!closed) {
    ::kill(child, SIGKILL);
    told.faults.push_back(fmt::format("hang: {} took more than {} s", told.at, limit));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (closed && WIFSIGNALED(status))
    told.faults.push_back(fmt::format("crash: {} ended by signal {} ({})", told.at,
                                      WTERMSIG(status), ::strsignal(WTERMSIG(status))));
  if (closed && WIFEXITED(status) && WEXITSTATUS(status) != 0)
    told.faults.push_back(fmt::format("crash: {} ended the process with code {}", told.at,
                                      WEXITSTATUS(status)));
  told.ended = closed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return told;
}

}  // namespace millrace::engine::plugin::check
