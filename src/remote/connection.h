#pragma once
// The program that reaches the board, such as ssh, and its three streams.
#include <sys/types.h>

#include <string>

#include "base/interrupt.h"

namespace millrace::remote {

struct Board {
  std::string target;   // USER@HOST, as ssh takes it
  std::string command;  // of the shell here, before target and program; empty: ssh
  std::string program;  // there
};

/// One thread. The process is gone at its end.
class Connection {
 public:
  /// Asks for no password: ssh fails instead. EngineError if no process can be started.
  explicit Connection(const Board& board);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int to_board() const { return to_; }
  int from_board() const { return from_; }
  int errors() const { return errors_; }

  /// Keeps the end of what it says on standard error.
  void read_errors();
  /// Why there is no connection, or none any more, as a sentence for a person. Waits for the
  /// process, but not long. `version`: that ought to be there.
  std::string reason(const Board& board, const std::string& version);

 private:
  void wait_for_end();

  pid_t process_ = -1;
  int to_ = -1, from_ = -1, errors_ = -1;
  int status_ = -1;  // of waitpid(); -1: it runs
  std::string said_;
};

}  // namespace millrace::remote
