// A worker on another board, over the standard input and output of the command that reaches it.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "message.h"

namespace millrace_cluster {

/// The board is gone, or answered with a failure.
class WorkerFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Thread-safe: calls of several threads are on their way at once.
class WorkerLink {
 public:
  /// Starts "REACH PROGRAM" by the shell. WorkerFailure if there is no answer within `limit`
  /// seconds, or another version answers. Later it is asked whether it is there, and given up when
  /// nothing has come for so long.
  WorkerLink(std::string board, const std::string& reach, const std::string& program,
             double limit);
  /// Ends the command; the worker ends with its standard input.
  ~WorkerLink();
  WorkerLink(const WorkerLink&) = delete;
  WorkerLink& operator=(const WorkerLink&) = delete;

  const std::string& board() const { return board_; }
  int cores() const { return cores_; }
  std::int64_t memory() const { return memory_; }  // bytes
  const std::string& model() const { return model_; }

  /// Of a tensor that crosses the link, by the rate that it had lately.
  std::size_t pieces_at_once() const;
  void note_rate(std::uint64_t bytes, std::chrono::duration<double> time);

  struct Call {
    Kind kind;
    std::int64_t a = 0, b = 0;
    const void* body = nullptr;
    std::uint64_t bytes = 0;
    void* into = nullptr;  // of get: where the answer's body goes, of so many bytes
    std::uint64_t into_bytes = 0;
  };
  /// Waits for the answer. WorkerFailure.
  Message call(const Call& call) { return Pending(*this, call).wait(); }

  /// A call on its way. What it names lives as long. Who leaves it without waiting drops its
  /// answer.
  class Pending {
   public:
    /// WorkerFailure.
    Pending(WorkerLink& link, const Call& call);
    ~Pending();
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    /// WorkerFailure.
    Message wait();

   private:
    friend WorkerLink;
    WorkerLink& link_;
    void* into_;
    std::uint64_t into_bytes_;
    std::uint64_t number_ = 0;
    bool done_ = false;
    Message answer_ = {};
    std::condition_variable changed_;  // so that an answer wakes the one who waits for it
  };

 private:
  void start(const std::string& command);
  void end();
  void send(Kind kind, std::uint64_t number, const Call& call);
  bool write_in_time(const void* bytes, std::uint64_t count);
  void keep_asking();
  void await(std::unique_lock<std::mutex>& lock, Pending& waiting);
  bool read_in_time(void* bytes, std::uint64_t count);
  void read_answers();
  void read_errors();
  void take(const Header& header);
  void lose(const std::string& why);
  void wake_all();
  [[noreturn]] void fail_lost();

  std::string board_, model_;
  int cores_ = 0;
  std::int64_t memory_ = 0;
  pid_t process_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  const std::chrono::duration<double> limit_;
  std::mutex writing_;  // one message at a time
  std::mutex mutex_;    // of all below
  std::condition_variable changed_;  // it is lost or ends
  std::condition_variable read_;     // an answer has been read
  std::map<std::uint64_t, Pending*> waiting_;
  std::uint64_t reading_ = 0;  // the call whose answer the reader writes to its place; 0: none
  std::uint64_t next_ = 1;
  std::chrono::steady_clock::time_point heard_{};  // when something came last
  std::string lost_, said_;  // why it is gone; the end of its standard error
  bool ends_ = false;
  std::atomic<double> rate_{0};  // bytes in a second; the highest one fades
  std::thread reader_, error_reader_, keeper_;
};

}  // namespace millrace_cluster
