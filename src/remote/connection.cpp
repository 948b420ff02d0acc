#include "remote/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/shell_word.h"
#include "base/split.h"
#include "remote/link.h"

namespace millrace::remote {
namespace {

constexpr const char* usual_command = "ssh";
/// ssh itself notices a dead network after 15 s; the two sides notice it before.
constexpr const char* ssh_options =
    " -T -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=5 -o ServerAliveCountMax=3";

/// Whether one of its words is ssh, which takes the options of ssh.
bool is_ssh(const std::string& command) {
  const std::vector<std::string> words = split(command, ' ');
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == usual_command || word.ends_with("/ssh");
  });
}

/// For `sh -c`, to which target and program are $1 and $2.
std::string script_of(const Board& board) {
  const std::string command = board.command.empty() ? usual_command : board.command;
  return fmt::format("exec {}{} \"$@\"", command, is_ssh(command) ? ssh_options : "");
}

struct Ends {
  std::array<int, 2> in{-1, -1}, out{-1, -1}, error{-1, -1};
};

[[noreturn]] void become(const Ends& ends, const std::array<const char*, 7>& words, pid_t parent) {
  ::setsid();  // Ctrl-C is for this program, which tells the board; and no terminal, no password
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);
  ::dup2(ends.in[0], STDIN_FILENO);
  ::dup2(ends.out[1], STDOUT_FILENO);
  ::dup2(ends.error[1], STDERR_FILENO);
  ::execv("/bin/sh", const_cast<char* const*>(words.data()));
  ::_exit(127);
}

std::string last_line(const std::string& text) {
  std::string last;
  for (const std::string& line : split(text, '\n'))
    if (line.find_first_not_of(" \t\r") != line.npos) last = line;
  if (!last.empty() && last.back() == '\r') last.pop_back();
  return short_name(last);
}

bool says(const std::string& text, std::string_view words) {
  return text.find(words) != text.npos;
}

}  // namespace

Connection::Connection(const Board& board) {
  if (board.target.empty() || board.target.starts_with('-'))
    throw InputError(board.target, "is no board; write USER@HOST");
  Ends ends;
  for (auto* pipe : {&ends.in, &ends.out, &ends.error})
    if (::pipe2(pipe->data(), O_CLOEXEC) != 0)
      throw EngineError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  const std::string script = script_of(board), command = shell_word(board.program) + " agent";
  const std::array<const char*, 7> words{
      "sh", "-c", script.c_str(), "millrace", board.target.c_str(), command.c_str(), nullptr};
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) become(ends, words, parent);
  for (const int end : {ends.in[0], ends.out[1], ends.error[1]}) ::close(end);
  to_ = ends.in[1];
  from_ = ends.out[0];
  errors_ = ends.error[0];
  ::fcntl(errors_, F_SETFL, O_NONBLOCK);
  if (process_ < 0)
    throw EngineError(fmt::format("no process can be started: {}", std::strerror(errno)));
}

Connection::~Connection() {
  ::close(to_);  // the board's side ends then, and ssh with it
  wait_for_end();
  if (status_ < 0 && process_ > 0) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, &status_, 0);
  }
  ::close(from_);
  if (errors_ >= 0) ::close(errors_);
}

void Connection::wait_for_end() {
  constexpr int step_ms = 20;
  const auto until = Clock::now() + std::chrono::seconds(3);
  while (status_ < 0 && Clock::now() < until) {
    if (::waitpid(process_, &status_, WNOHANG) == process_) return;
    ::poll(nullptr, 0, step_ms);
  }
}

void Connection::read_errors() {
  constexpr std::size_t most = 4096;
  std::array<char, most> bytes;
  const ssize_t count = errors_ < 0 ? -1 : ::read(errors_, bytes.data(), bytes.size());
  if (count == 0) {
    ::close(errors_);
    errors_ = -1;
  }
  if (count <= 0) return;
  said_.append(bytes.data(), static_cast<std::size_t>(count));
  if (said_.size() > most) said_.erase(0, said_.size() - most);
}

std::string Connection::reason(const Board& board, const std::string& version) {
  wait_for_end();
  for (int i = 0; i < 4; ++i) read_errors();
  const std::string& target = board.target;
  const std::string line = last_line(said_);
  const int code = status_ >= 0 && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  if (says(said_, "Permission denied"))
    return fmt::format("{}: it would ask for a password, or takes none of your keys; give it your "
                       "key once with `ssh-copy-id {}`", target, target);
  if (says(said_, "Host key verification failed"))
    return fmt::format("{}: its host key is not known here, or is another one than before; connect "
                       "once by hand with `ssh {}`", target, target);
  if (says(said_, "no command 'agent'"))
    return fmt::format("{}: Millrace there is another version, which cannot be used from afar; "
                       "install {} there", target, version);
  if (code == 127 || code == 126 || says(said_, "not found"))
    return fmt::format("{}: no program '{}' was found there; install Millrace {} on the board, or "
                       "name the program with ⟨program⟩ ({})", target, board.program, version,
                       line.empty() ? "no reason given" : line);
  return fmt::format("{}: the connection ended: {}", target,
                     line.empty() ? "no reason given" : line);
}

}  // namespace millrace::remote
