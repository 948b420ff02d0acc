#pragma once
// The program that the agent starts, and all processes that come of it.
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "remote/messages.h"

namespace millrace::remote {

/// One thread. All its processes are gone at its end, whatever they do.
class Job {
 public:
  /// `program` with the words, in the folder. Its standard input is empty. EngineError if it cannot
  /// be started.
  Job(const std::filesystem::path& program, const std::filesystem::path& folder,
      const Start& start);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Where its standard output and error are read; -1 after their end.
  const std::array<int, 2>& outputs() const { return outputs_; }
  /// What is there of an output, at most a piece; nothing comes after its end.
  std::string read(std::size_t output);

  void interrupt() const;
  bool has_ended() const { return ended_.has_value(); }
  /// How it ended, once its process has; what it wrote may still be read.
  const std::optional<Ended>& look_for_end();
  /// Asks all its processes to end, and ends them after a second.
  void end_all();

 private:
  void close(std::size_t output);

  pid_t process_ = -1;
  std::array<int, 2> outputs_{-1, -1};
  std::optional<Ended> ended_;
};

}  // namespace millrace::remote
