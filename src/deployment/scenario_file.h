#pragma once
// A file in which somebody else says in which scenario the system is to be.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "deployment/script.h"

namespace millrace::deployment {

/// One line, "SCENARIO LEVEL", without the level: the highest. One thread.
class ScenarioFile {
 public:
  /// Borrows the system. The file may come later.
  ScenarioFile(std::filesystem::path path, const system::System& system)
      : path_(std::move(path)), system_(system) {}

  /// What it says, if that has changed since the last look. What is wrong twice in a row, as nobody
  /// is writing it then, is an InputError once.
  std::optional<Wanted> changed();

 private:
  const std::filesystem::path path_;
  const system::System& system_;
  std::string text_ = {}, wrong_ = {};
};

/// Where a run that ended had been, from a file that write_state() wrote; nothing if it is not
/// there. InputError if it names what the system does not have.
std::optional<Wanted> read_state(const std::filesystem::path& path, const system::System& system);
/// Atomically. EngineError if it cannot be written.
void write_state(const std::filesystem::path& path, const Wanted& wanted,
                 const system::System& system);

}  // namespace millrace::deployment
