#include "worker_link.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "version.h"

extern char** environ;

namespace millrace_cluster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t most_cores = 4096;
constexpr std::size_t most_said = 400;  // of its standard error

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw WorkerFailure("no pipe can be made");
  return {ends[0], ends[1]};
}

/// A broken pipe is an error of the call, not the end of the program.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    ::sigemptyset(&only_);
    ::sigaddset(&only_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~WithoutPipeSignal() {
    const timespec now{};
    if (::sigismember(&before_, SIGPIPE) == 0)
      while (::sigtimedwait(&only_, nullptr, &now) == SIGPIPE) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t only_{}, before_{};
};

}  // namespace

WorkerLink::WorkerLink(std::string board, const std::string& reach, const std::string& program,
                       double limit)
    : board_(std::move(board)), limit_(limit), heard_(Clock::now()) {
  start(reach + " " + program);
  reader_ = std::thread([this] { read_answers(); });
  error_reader_ = std::thread([this] { read_errors(); });
  keeper_ = std::thread([this] { keep_asking(); });
  try {
    const Message answer = call(
        {.kind = Kind::hello, .body = version, .bytes = std::char_traits<char>::length(version)});
    if (answer.header.a < 1 || answer.header.a > most_cores)
      throw WorkerFailure("it says that it has " + std::to_string(answer.header.a) + " cores");
    cores_ = static_cast<int>(answer.header.a);
    memory_ = std::max<std::int64_t>(0, answer.header.b);
    model_ = answer.body;
  } catch (const WorkerFailure& failure) {
    std::string why;
    {
      const std::lock_guard lock(mutex_);
      why = lost_.empty() ? failure.what() : lost_;
    }
    end();
    throw WorkerFailure("the board " + board_ + " is not reached by '" + reach + "': " + why);
  }
}

WorkerLink::~WorkerLink() { end(); }

void WorkerLink::end() {
  if (process_ < 0) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    if (lost_.empty()) lost_ = "it was left";  // who still writes there stops
    wake_all();
  }
  if (keeper_.joinable()) keeper_.join();
  ::close(std::exchange(to_, -1));
  // It ends with its input. Who does not is ended.
  for (int i = 0; i < 50 && ::waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
    if (i == 20) ::kill(-process_, SIGTERM);
    if (i == 40) ::kill(-process_, SIGKILL);
    ::usleep(50'000);
  }
  process_ = -1;
  if (reader_.joinable()) reader_.join();
  if (error_reader_.joinable()) error_reader_.join();
  ::close(from_);
  ::close(errors_);
}

void WorkerLink::start(const std::string& command) {
  const Pipe in = make_pipe(), out = make_pipe(), error = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  ::posix_spawn_file_actions_adddup2(&actions, error.write, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C is ours alone
  std::array<std::string, 3> words{"sh", "-c", "exec " + command};
  std::array<char*, 4> argv{words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int failed =
      ::posix_spawn(&process_, "/bin/sh", &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  for (const int end : {in.read, out.write, error.write}) ::close(end);
  to_ = in.write, from_ = out.read, errors_ = error.read;
  ::fcntl(to_, F_SETFL, O_NONBLOCK);
  if (failed != 0) throw WorkerFailure("no process can be started for " + board_);
}

void WorkerLink::read_answers() {
  try {
    Header header;
    while (read_header(from_, header)) take(header);
    lose("the connection has ended");
  } catch (const std::exception& error) {
    lose(error.what());
  }
}

void WorkerLink::take(const Header& header) {
  std::unique_lock lock(mutex_);
  heard_ = Clock::now();
  auto found = waiting_.find(header.call);
  void* place = nullptr;
  if (found != waiting_.end() && header.kind == Kind::answer &&
      header.bytes == found->second->into_bytes_)
    place = found->second->into_;
  if (place != nullptr) reading_ = header.call;  // who waits stays until it is read
  lock.unlock();
  std::string body(place == nullptr ? header.bytes : 0, '\0');
  const bool whole = read_in_time(place != nullptr ? place : body.data(), header.bytes);
  lock.lock();
  reading_ = 0;
  read_.notify_all();
  if (!whole) throw std::runtime_error("the connection has ended within an answer");
  found = waiting_.find(header.call);
  if (found == waiting_.end()) return;
  found->second->answer_ = {header, std::move(body)};
  found->second->done_ = true;
  found->second->changed_.notify_one();
}

/// False at the end of the stream, and when the board is given up.
bool WorkerLink::read_in_time(void* bytes, std::uint64_t count) {
  auto* at = static_cast<char*>(bytes);
  while (count > 0) {
    pollfd ready{from_, POLLIN, 0};
    if (::poll(&ready, 1, 100) > 0) {
      const ssize_t got = ::read(from_, at, count);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      count -= static_cast<std::uint64_t>(got);
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (!lost_.empty()) return false;
  }
  return true;
}

void WorkerLink::read_errors() {
  std::array<char, 512> piece{};
  ssize_t count = 0;
  while ((count = ::read(errors_, piece.data(), piece.size())) > 0) {
    const std::lock_guard lock(mutex_);
    said_.append(piece.data(), static_cast<std::size_t>(count));
    if (said_.size() > most_said) said_.erase(0, said_.size() - most_said);
  }
}

void WorkerLink::lose(const std::string& why) {
  ::usleep(100'000);  // what it says about that may come
  const std::lock_guard lock(mutex_);
  std::string said = said_;
  while (!said.empty() && (said.back() == '\n' || said.back() == '\r')) said.pop_back();
  const std::size_t line = said.find_last_of('\n');
  if (line != std::string::npos) said.erase(0, line + 1);
  lost_ = said.empty() ? why : why + " (" + said + ")";
  wake_all();
}

/// With the lock.
void WorkerLink::wake_all() {
  changed_.notify_all();
  for (const auto& [number, pending] : waiting_) pending->changed_.notify_one();
}

void WorkerLink::fail_lost() { throw WorkerFailure("the board " + board_ + " is gone: " + lost_); }

/// False: it is lost. A board that takes nothing for too long is.
bool WorkerLink::write_in_time(const void* bytes, std::uint64_t count) {
  const auto* at = static_cast<const char*>(bytes);
  auto progress = Clock::now();
  while (count > 0) {
    const ssize_t put = ::write(to_, at, count);
    if (put > 0) {
      at += put;
      count -= static_cast<std::uint64_t>(put);
      progress = Clock::now();
      continue;
    }
    if (put < 0 && errno != EAGAIN && errno != EINTR) return false;  // the reader notices, too
    pollfd ready{to_, POLLOUT, 0};
    ::poll(&ready, 1, 100);
    const std::lock_guard lock(mutex_);
    if (lost_.empty() && Clock::now() - progress > limit_)
      lost_ = "it takes nothing any more";
    if (!lost_.empty()) {
      wake_all();
      return false;
    }
  }
  return true;
}

void WorkerLink::send(Kind kind, std::uint64_t number, const Call& call) {
  const std::lock_guard one(writing_);
  const WithoutPipeSignal quiet;
  const Header header{.kind = kind, .call = number, .a = call.a, .b = call.b, .bytes = call.bytes};
  if (write_in_time(&header, sizeof header)) write_in_time(call.body, call.bytes);
}

/// Until the answer is there, or nothing has come for too long, not even what keep_asking() asks for.
void WorkerLink::await(std::unique_lock<std::mutex>& lock, Pending& waiting) {
  const auto began = Clock::now();
  const auto is_over = [&] { return waiting.done_ || !lost_.empty(); };
  while (!waiting.changed_.wait_for(lock, limit_ / 4, is_over)) {
    if (Clock::now() - std::max(heard_, began) <= limit_) continue;
    lost_ = "it has not answered for " + std::to_string(static_cast<int>(limit_.count())) + " s";
    wake_all();
  }
}

/// Whether the board is there, which its reader answers at any time; so it knows, too, that we are.
void WorkerLink::keep_asking() {
  const auto pause = std::min<std::chrono::duration<double>>(limit_ / 4, longest_silence / 4);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [&] { return ends_ || !lost_.empty(); })) {
    lock.unlock();
    send(Kind::hello, 0, {Kind::hello, 0, 0, version, std::char_traits<char>::length(version)});
    lock.lock();
  }
}

std::size_t WorkerLink::pieces_at_once() const {
  const double bytes = rate_ * std::chrono::duration<double>(longest_queue).count();
  const auto pieces = static_cast<std::size_t>(bytes / static_cast<double>(piece_bytes));
  return std::clamp(pieces, fewest_pieces, most_pieces);
}

/// Of two threads that note at once, one is passed over.
void WorkerLink::note_rate(std::uint64_t bytes, std::chrono::duration<double> time) {
  constexpr double fading = 0.98;
  if (bytes < 2 * piece_bytes || time.count() <= 0) return;
  rate_ = std::max(rate_ * fading, static_cast<double>(bytes) / time.count());
}

WorkerLink::Pending::Pending(WorkerLink& link, const Call& call)
    : link_(link), into_(call.into), into_bytes_(call.into_bytes) {
  {
    const std::lock_guard lock(link_.mutex_);
    if (!link_.lost_.empty()) link_.fail_lost();
    number_ = link_.next_++;
    link_.waiting_[number_] = this;
  }
  link_.send(call.kind, number_, call);
}

WorkerLink::Pending::~Pending() {
  std::unique_lock lock(link_.mutex_);
  link_.read_.wait(lock, [&] { return link_.reading_ != number_; });
  link_.waiting_.erase(number_);
}

Message WorkerLink::Pending::wait() {
  std::unique_lock lock(link_.mutex_);
  link_.await(lock, *this);
  if (!done_) link_.fail_lost();
  if (answer_.header.kind == Kind::failure) throw WorkerFailure(link_.board_ + ": " + answer_.body);
  return std::move(answer_);
}

}  // namespace millrace_cluster
