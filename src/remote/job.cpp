#include "remote/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "remote/link.h"

namespace millrace::remote {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_start(const char* what) {
  throw EngineError(fmt::format("{} on the board: {}", what, std::strerror(errno)));
}

/// First the end that is read, then the one that is written.
std::array<int, 2> pipe_of_output() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) cannot_start("a pipe cannot be made");
  return ends;
}

/// A terminal that passes all bytes on as they are.
std::array<int, 2> terminal_of_output(std::int64_t columns) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  std::array<char, 128> name{};
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0 ||
      ::ptsname_r(master, name.data(), name.size()) != 0)
    cannot_start("a terminal cannot be made");
  const int slave = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) cannot_start("a terminal cannot be opened");
  termios settings{};
  ::tcgetattr(slave, &settings);
  ::cfmakeraw(&settings);
  ::tcsetattr(slave, TCSANOW, &settings);
  winsize size{};
  size.ws_col = static_cast<unsigned short>(std::clamp<std::int64_t>(columns, 0, 1000));
  ::ioctl(slave, TIOCSWINSZ, &size);
  return {master, slave};
}

/// What the child needs, made before it is: between fork and exec nothing may be allocated.
struct Image {
  std::string program, folder;
  std::vector<std::string> words;
  std::vector<char*> arguments;
  int input, output, error;
  pid_t parent;
};

[[noreturn]] void become(const Image& image) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != image.parent) ::_exit(127);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);
  const bool is_placed = ::dup2(image.input, STDIN_FILENO) >= 0 &&
                         ::dup2(image.output, STDOUT_FILENO) >= 0 &&
                         ::dup2(image.error, STDERR_FILENO) >= 0 &&
                         ::chdir(image.folder.c_str()) == 0;
  if (is_placed) ::execv(image.program.c_str(), image.arguments.data());
  constexpr std::string_view text = "millrace: the program cannot be started again\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(127);
}

pid_t start_process(Image& image) {
  image.arguments.push_back(image.program.data());
  for (std::string& word : image.words) image.arguments.push_back(word.data());
  image.arguments.push_back(nullptr);
  image.parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) cannot_start("a process cannot be started");
  if (process == 0) become(image);
  ::setpgid(process, process);  // whoever is first
  return process;
}

/// Colours and bars are for a terminal of a known kind.
void set_terminal(const std::string& terminal) {
  if (terminal.empty()) ::unsetenv("TERM");
  else ::setenv("TERM", terminal.c_str(), 1);
}

/// The parent in a line of /proc/PID/stat; the name in brackets may hold anything.
pid_t parent_in(const std::string& line) {
  const std::size_t close = line.rfind(')');
  if (close == line.npos || close + 4 > line.size()) return -1;
  pid_t parent = -1;
  std::from_chars(line.data() + close + 4, line.data() + line.size(), parent);
  return parent;
}

/// Processes of this one, also those whose own parent is gone (PR_SET_CHILD_SUBREAPER).
std::vector<pid_t> children() {
  std::vector<pid_t> children;
  std::error_code error;
  for (fs::directory_iterator each("/proc", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    pid_t process = -1;
    std::from_chars(name.data(), name.data() + name.size(), process);
    if (process <= 0) continue;
    std::ifstream file(each->path() / "stat");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (parent_in(line) == ::getpid()) children.push_back(process);
  }
  return children;
}

void wait_for(std::chrono::milliseconds time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

/// Whether none is left.
bool reap() {
  while (true) {
    const pid_t process = ::waitpid(-1, nullptr, WNOHANG);
    if (process < 0) return errno == ECHILD;
    if (process == 0) return false;
  }
}

}  // namespace

Job::Job(const fs::path& program, const fs::path& folder, const Start& start) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  set_terminal(start.terminal);
  const auto out = start.has_terminal_out ? terminal_of_output(start.columns) : pipe_of_output();
  const auto err = start.has_terminal_err ? terminal_of_output(start.columns) : pipe_of_output();
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  Image image{program.string(), folder.string(), start.words, {}, nothing, out[1], err[1], 0};
  process_ = start_process(image);
  for (const int end : {nothing, out[1], err[1]}) ::close(end);
  outputs_ = {out[0], err[0]};
  for (const int end : outputs_) ::fcntl(end, F_SETFL, O_NONBLOCK);
}

Job::~Job() {
  end_all();
  for (std::size_t i = 0; i < outputs_.size(); ++i) close(i);
}

void Job::close(std::size_t output) {
  if (const int end = std::exchange(outputs_[output], -1); end >= 0) ::close(end);
}

std::string Job::read(std::size_t output) {
  std::string bytes(piece_size, '\0');
  const ssize_t count = outputs_[output] < 0
                            ? 0
                            : ::read(outputs_[output], bytes.data(), bytes.size());
  const bool is_later = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (count <= 0 && !is_later) close(output);  // EIO: nobody has the terminal any more
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return bytes;
}

void Job::interrupt() const {
  if (!ended_) ::kill(-process_, SIGINT);
}

const std::optional<Ended>& Job::look_for_end() {
  int status = 0;
  if (ended_ || ::waitpid(process_, &status, WNOHANG) != process_) return ended_;
  if (WIFSIGNALED(status)) ended_ = Ended{0, WTERMSIG(status)};
  else ended_ = Ended{WEXITSTATUS(status), 0};
  return ended_;
}

void Job::end_all() {
  constexpr std::chrono::milliseconds step{20};
  if (!look_for_end()) ::kill(-process_, SIGTERM);
  for (const auto until = Clock::now() + std::chrono::seconds(1);
       !look_for_end() && Clock::now() < until;)
    wait_for(step);
  ::kill(-process_, SIGKILL);
  look_for_end();
  while (!reap()) {
    for (const pid_t child : children()) ::kill(child, SIGKILL);
    wait_for(step);
  }
  if (!ended_) ended_ = Ended{0, SIGKILL};
}

}  // namespace millrace::remote
