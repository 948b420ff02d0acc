#pragma once
// When the system goes into which scenario, and what is to be added to it: a drive.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "deployment/deployment.h"

namespace millrace::deployment {

/// In which scenario the system is to be, and at which level.
struct Wanted {
  system::ScenarioId scenario{0};
  std::int64_t level = 0;
  bool operator==(const Wanted&) const = default;
};

struct ScriptStep {
  Time at{};  // from the start
  Wanted wanted;
  /// A deployment whose groups are to run as well, if they fit; then `wanted` is that of the step
  /// before. Empty: none.
  std::string add = {};
  bool operator==(const ScriptStep&) const = default;
};
using Script = std::vector<ScriptStep>;  // ascending

/// A line for each step, "TIME_S SCENARIO LEVEL"; a level may be left out: the highest. Or
/// "TIME_S add FILE", relative to the script's folder. Empty lines and what follows '#' are passed
/// over. InputError names the line.
Script read_script(const std::filesystem::path& path, const system::System& system);

/// A scenario, and perhaps a level: a line of a script without its time. InputError names the
/// place.
Wanted read_wanted(const std::string& text, const system::System& system, const std::string& place);

/// InputError, with this reason, if a step adds a deployment.
void refuse_additions(const Script& script, const std::string& reason);

struct RandomDrive {
  Time duration{};
  std::int64_t transitions = 0;
  std::uint64_t seed = 1;
};
/// Begins in the first scenario and goes where the system's probabilities lead, at random moments
/// and to random levels.
Script random_script(const system::System& system, const RandomDrive& drive);

/// How many frames of a group may be on their way at once: as many as its deadline allows at any
/// level.
std::int64_t most_on_the_way(const system::System& system, system::GroupId group);

}  // namespace millrace::deployment
