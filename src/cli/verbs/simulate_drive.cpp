#include "cli/verbs/simulate_drive.h"

#include "cli/options/common.h"
#include "cli/options/drive.h"

namespace millrace::cli {

void bind_drive(CLI::App& verb, DriveVerbOptions& options) {
  begin_group(verb, "Of deployments");
  api::DriveRequest& request = options.request;
  const DriveChoices choices =
      bind_drive_choices(verb, {request.script, request.transitions, request.duration_s});
  options.options = {choices.script, choices.transitions, choices.duration};
}

}  // namespace millrace::cli
