#include "deployment/scenario_file.h"

#include <fstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"

namespace millrace::deployment {

std::optional<Wanted> ScenarioFile::changed() {
  std::string text;
  std::ifstream file(path_);
  if (!std::getline(file, text) || text == text_) return std::nullopt;
  if (text.find_first_not_of(" \t\r") == std::string::npos) return std::nullopt;
  try {
    const Wanted wanted = read_wanted(text, system_, path_.string());
    text_ = text;
    return wanted;
  } catch (const InputError&) {
    if (std::exchange(wrong_, text) != text) return std::nullopt;
    text_ = text;
    throw;
  }
}

std::optional<Wanted> read_state(const std::filesystem::path& path, const system::System& system) {
  std::string text;
  std::ifstream file(path);
  if (!std::getline(file, text)) return std::nullopt;
  return read_wanted(text, system, path.string());
}

void write_state(const std::filesystem::path& path, const Wanted& wanted,
                 const system::System& system) {
  write_file(path, system[wanted.scenario].name + " " + std::to_string(wanted.level) + "\n");
}

}  // namespace millrace::deployment
