#pragma once
// When the system goes into which scenario: a drive.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "runtime/controller/controller.h"

namespace millrace::runtime {

struct ScriptStep {
  Time at{};  // from the start
  Wanted wanted;
  bool operator==(const ScriptStep&) const = default;
};
using Script = std::vector<ScriptStep>;  // ascending

/// A line for each step, "TIME_S SCENARIO LEVEL"; a level may be left out: the highest. Empty lines
/// and what follows '#' are passed over. InputError names the line.
Script read_script(const std::filesystem::path& path, const system::System& system);

struct RandomDrive {
  Time duration{};
  std::int64_t transitions = 0;
  std::uint64_t seed = 1;
};
/// Begins in the first scenario and goes where the system's probabilities lead, at random moments
/// and to random levels.
Script random_script(const system::System& system, const RandomDrive& drive);

/// Asks the controller for each step in its time, with the priority of the release thread, so that
/// no group delays it. Returns after `duration`, or when the
/// controller has failed or `is_over` says so, which is asked often.
void play(Controller& controller, const Script& script, Time duration,
          const std::function<bool()>& is_over = {});

}  // namespace millrace::runtime
