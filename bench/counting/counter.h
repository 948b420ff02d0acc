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

}  // namespace millrace::counting
