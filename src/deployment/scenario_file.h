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

}  // namespace millrace::deployment
