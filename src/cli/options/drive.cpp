#include "cli/options/drive.h"

#include "cli/options/duration.h"
#include "cli/options/range_check.h"

namespace millrace::cli {

DriveChoices bind_drive_choices(CLI::App& verb, const DrivePlaces& places) {
  DriveChoices choices;
  choices.script =
      verb.add_option("--scenario-script", places.script,
                      "A drive: a file with a line 'TIME_S SCENARIO LEVEL' for each transition. "
                      "Default: random transitions");
  choices.transitions =
      verb.add_option("--transitions", places.transitions, "Number of random transitions")
          ->check(CLI::Range(0, 1'000'000))
          ->capture_default_str()
          ->excludes(choices.script);
  choices.duration = verb.add_option("--duration", places.duration_s,
                                     "How long frames come, in seconds or as 200ms")
                         ->transform(in_seconds())
                         ->check(between(0.001, 1e6))
                         ->capture_default_str();
  return choices;
}

}  // namespace millrace::cli
