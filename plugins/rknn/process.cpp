#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "failure.h"

extern char** environ;  // NOLINT: POSIX's

namespace millrace_rknn {
namespace {

constexpr int ask_again_ms = 200;
constexpr std::size_t most_words = 16384;

/// What the program prints comes out of its end, which says too when the last writer has gone.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw SdkFailure(std::string("no pipe can be had: ") + std::strerror(errno));
  }
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  /// Waits for a while; false: nobody writes any more.
  bool read_into(std::string& words) const {
    pollfd waiting{ends_[0], POLLIN, 0};
    if (::poll(&waiting, 1, ask_again_ms) <= 0) return true;
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(ends_[0], bytes.data(), bytes.size());
    if (count <= 0) return count < 0 && errno == EINTR;
    words.append(bytes.data(), static_cast<std::size_t>(count));
    if (words.size() > most_words) words.erase(0, words.size() - most_words);
    return true;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

/// In a group of its own, so that all of it can be ended, and a Ctrl-C is for its caller alone.
int start(const std::vector<std::string>& words, int output, pid_t& process) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failed =
      ::posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

}  // namespace

EndedProgram run_program(const std::vector<std::string>& words,
                         const std::function<bool()>& goes_on) {
  constexpr int not_started = 127;
  Pipe pipe;
  pid_t process = 0;
  if (const int failed = start(words, pipe.writer(), process); failed != 0)
    return {not_started, std::strerror(failed), false};
  pipe.close_writer();
  EndedProgram ended;
  while (pipe.read_into(ended.words))
    if (!ended.was_stopped && !goes_on()) {
      ended.was_stopped = true;
      ::kill(-process, SIGKILL);
    }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

}  // namespace millrace_rknn
