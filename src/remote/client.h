#pragma once
// The PC's side: does a command on a board as if it were done here.
#include <cstdint>
#include <string>

#include "base/operation/context.h"
#include "remote/command.h"
#include "remote/connection.h"

namespace millrace::remote {

struct Terminals {
  bool out = false, error = false;  // whether these streams of ours are some
  std::int64_t columns = 0;
  std::string kind;  // TERM; empty: none, or without colours
};

struct ClientOptions {
  Board board;
  std::string version;  // of this program: the other one has the same
  Terminals terminals;
  Context context;  // its interrupt is passed on; its listener hears of files that are sent
};

/// The exit code of the command; of one that a signal ended 128 and the signal, which is noted.
/// What it writes to its two streams goes to ours as it comes; files that it wrote are here when
/// this returns, each as a whole. EngineError if the board is not reached or lost, or if Millrace
/// is not there or another version; no file is half then. std::system_error with EPIPE if nobody
/// reads our standard output any more.
int run_there(const ClientOptions& options, const Command& command);

}  // namespace millrace::remote
