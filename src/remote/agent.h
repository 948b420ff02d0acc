#pragma once
// The board's side: does what one connection asks for, until that ends.
#include <filesystem>
#include <string>

#include "base/interrupt.h"
#include "base/units.h"

namespace millrace::remote {

struct AgentOptions {
  std::filesystem::path program;  // that is started: this one
  std::string version;            // of it
  std::filesystem::path folder;   // for files that were sent and sessions; made, this user's alone
  Bytes most_kept{std::int64_t{8} << 30};  // of the files that were sent
  Interrupt* interrupt = nullptr;          // borrowed; ends the work; null: nobody does
};

/// Speaks over the two descriptors, which are the ends of a connection. Work ends within 5 s when
/// the connection does, or when the other side is silent while a program runs; no process and no
/// file of it is left. EngineError, which the other side was told, if it cannot go on.
void serve(const AgentOptions& options, int in, int out);

}  // namespace millrace::remote
