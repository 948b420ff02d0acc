#include "cli/verbs/simulate_drive.h"

#include "cli/options/common.h"
#include "cli/options/duration.h"
#include "cli/options/range_check.h"

namespace millrace::cli {

void bind_drive(CLI::App& verb, DriveVerbOptions& options) {
  begin_group(verb, "Of deployments");
  api::DriveRequest& request = options.request;
  CLI::Option* script =
      verb.add_option("--scenario-script", request.script,
                      "A drive: a file with a line 'TIME_S SCENARIO LEVEL' for each transition. "
                      "Default: random transitions")
          ->check(CLI::ExistingFile);
  CLI::Option* transitions =
      verb.add_option("--transitions", request.transitions, "Number of random transitions")
          ->check(CLI::Range(0, 1'000'000))
          ->capture_default_str()
          ->excludes(script);
  CLI::Option* duration =
      verb.add_option("--duration", request.duration_s, "How long frames come, in seconds")
          ->transform(in_seconds())
          ->check(between(0.001, 1e6))
          ->capture_default_str();
  options.options = {script, transitions, duration};
}

}  // namespace millrace::cli
