#pragma once
// What the emulator's plug-in plugin.c counts, as seen by the program that it runs.
#include <cstdint>
#include <fstream>
#include <string>

namespace millrace::counting {

/// Not thread-safe. InputError if the program does not run with the plug-in, or if `log` is not the
/// file into which the plug-in writes.
class Counter {
 public:
  explicit Counter(const std::string& log);
  /// Executed instructions since the last call, or since the start of the program.
  std::int64_t take();

 private:
  std::string place_;
  std::ifstream log_;
};

/// As long as it lives, the clocks of this program count instructions as nanoseconds: what tells
/// times tells counts. Those that asking takes are left out. One at a time.
class InstructionClock {
 public:
  explicit InstructionClock(Counter& counter);
  ~InstructionClock();
  InstructionClock(const InstructionClock&) = delete;
  InstructionClock& operator=(const InstructionClock&) = delete;
};

}  // namespace millrace::counting
